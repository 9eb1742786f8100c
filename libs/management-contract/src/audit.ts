import { LATEST_EPOCH_S, plainText } from '@dormouse/gateway-contract';
import { z } from 'zod';
import { wholeNumber } from './fields.js';

const word = plainText.min(1, 'must not be empty').max(100, 'must have at most 100 characters');
const epochQuery = z
  .string()
  .regex(/^\d{1,13}$/, 'must be epoch seconds')
  .transform(Number)
  .refine((seconds) => seconds < LATEST_EPOCH_S, 'must be epoch seconds');

/** Query of GET /api/v1/audit. */
export const auditQuery = z.object({
  count: wholeNumber(1, 500, 100),
  cursor: z
    .string()
    .regex(/^\d{1,18}$/, 'must be the next of another page')
    .optional()
    .describe('`next` of the page before.'),
  action: word.optional().describe('A whole action, such as `channel.create`, or its first word.'),
  actor: word.optional().describe('Id of the user or key, or name of the operator.'),
  object: word.optional().describe('Id of what the action was about.'),
  from: epochQuery.optional().describe('From this time on, in epoch seconds.'),
  to: epochQuery.optional().describe('Before this time.'),
});
export type AuditQuery = z.output<typeof auditQuery>;

export const auditRecord = z.object({
  id: z.string(),
  at: z.int().describe('Epoch seconds.'),
  actor: z.object({
    kind: z.enum(['user', 'key', 'operator', 'stripe', 'system']),
    id: z.string(),
    name: z.string().optional(),
  }),
  action: z.string().describe('`channel.create`'),
  object: z.object({ kind: z.string(), id: z.string() }).optional(),
  address: z.string().optional().describe('Network address of the request.'),
  request_id: z.string().optional(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
});
export type AuditRecord = z.output<typeof auditRecord>;

/** Answer of GET /api/v1/audit, newest first. */
export const auditPage = z.object({
  entries: z.array(auditRecord),
  next: z.string().optional().describe('Cursor of the next page; absent: this is the last.'),
});
export type AuditPage = z.output<typeof auditPage>;
