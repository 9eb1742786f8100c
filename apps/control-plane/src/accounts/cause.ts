import type { AuditActor } from '@dormouse/audit-log';

/** Who caused a change, from where, by which request: what every entry of the audit log has. */
export interface Cause {
  actor: AuditActor;
  /** Network address of the request. */
  address?: string;
  requestId?: string;
}
