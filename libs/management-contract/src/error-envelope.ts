import { z } from 'zod';

/** Body of every failure: the envelope of the gateway. */
export const errorBody = z.object({
  error: z.object({
    code: z.int().describe('Equals the HTTP status.'),
    message: z.string(),
    details: z.string().optional().describe('For 400 `<field>: <reason>`.'),
    href: z.string(),
    support: z.string(),
  }),
});
export type ErrorBody = z.output<typeof errorBody>;
