import { REGIONS } from '@dormouse/gateway-contract';
import { z } from 'zod';
import { signInOptions } from './users.js';

/** Answer of GET /api/v1/installation: what pages need to know before anybody is signed in. */
export const installation = z.object({
  regions: z.array(
    z.object({
      code: z
        .enum(REGIONS)
        .describe('Regions that channels can be created in; the first is that of a channel without one.'),
      gateway_url: z
        .string()
        .optional()
        .describe("Address of the region's gateway; absent: the operator has not named it."),
    }),
  ),
  sign_in: signInOptions.describe('How people can sign in.'),
  billing: z.boolean().describe('Whether numbers beyond the free ones are paid here.'),
  phones_url: z.string().optional().describe('The page of the phones of a simulated network, where there is one.'),
  support: z.string(),
});
export type Installation = z.output<typeof installation>;
