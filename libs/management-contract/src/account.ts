import { z } from 'zod';

/** Answer of GET /api/v1/account: the account of the key. */
export const accountRecord = z.object({
  id: z.string(),
  name: z.string(),
  /** Epoch seconds. */
  created_at: z.int(),
});
export type AccountRecord = z.output<typeof accountRecord>;
