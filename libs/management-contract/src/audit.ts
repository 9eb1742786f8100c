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
  /** `next` of the page before. */
  cursor: z
    .string()
    .regex(/^\d{1,18}$/, 'must be the next of another page')
    .optional(),
  /** A whole action, such as `channel.create`, or its first word. */
  action: word.optional(),
  /** Id of the user or key, or name of the operator. */
  actor: word.optional(),
  /** Id of what the action was about. */
  object: word.optional(),
  /** From this time on, in epoch seconds. */
  from: epochQuery.optional(),
  /** Before this time. */
  to: epochQuery.optional(),
});
export type AuditQuery = z.output<typeof auditQuery>;

export const auditRecord = z.object({
  id: z.string(),
  /** Epoch seconds. */
  at: z.int(),
  actor: z.object({
    kind: z.enum(['user', 'key', 'operator', 'stripe', 'system']),
    id: z.string(),
    name: z.string().optional(),
  }),
  /** `channel.create` */
  action: z.string(),
  object: z.object({ kind: z.string(), id: z.string() }).optional(),
  /** Network address of the request. */
  address: z.string().optional(),
  request_id: z.string().optional(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
});
export type AuditRecord = z.output<typeof auditRecord>;

/** Answer of GET /api/v1/audit, newest first. */
export const auditPage = z.object({
  entries: z.array(auditRecord),
  /** Cursor of the next page; absent: this is the last. */
  next: z.string().optional(),
});
export type AuditPage = z.output<typeof auditPage>;
