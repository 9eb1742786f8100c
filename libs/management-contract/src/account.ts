import { z } from 'zod';

/** Answer of GET /api/v1/account: whom the account key belongs to. */
export const accountRecord = z.object({
  id: z.string(),
  name: z.string(),
  /** Epoch seconds. */
  created_at: z.int(),
});
export type AccountRecord = z.output<typeof accountRecord>;
