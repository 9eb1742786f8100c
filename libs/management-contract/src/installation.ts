import { REGIONS } from '@dormouse/gateway-contract';
import { z } from 'zod';
import { signInOptions } from './users.js';

/** Answer of GET /api/v1/installation: what pages need to know before anybody is signed in. */
export const installation = z.object({
  /** Regions that channels can be created in; the first is that of a channel without one. */
  regions: z.array(
    z.object({
      code: z.enum(REGIONS),
      /** Address of the region's gateway; absent: the operator has not named it. */
      gateway_url: z.string().optional(),
    }),
  ),
  /** How people can sign in. */
  sign_in: signInOptions,
  /** Whether numbers beyond the free ones are paid here. */
  billing: z.boolean(),
  /** The page of the phones of a simulated network, where there is one. */
  phones_url: z.string().optional(),
  support: z.string(),
});
export type Installation = z.output<typeof installation>;
