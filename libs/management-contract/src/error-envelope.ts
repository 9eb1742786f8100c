import { z } from 'zod';

/** Body of every failure: the envelope of the gateway. */
export const errorBody = z.object({
  error: z.object({
    /** Equals the HTTP status. */
    code: z.int(),
    message: z.string(),
    /** For 400 `<field>: <reason>`. */
    details: z.string().optional(),
    href: z.string(),
    support: z.string(),
  }),
});
export type ErrorBody = z.output<typeof errorBody>;
