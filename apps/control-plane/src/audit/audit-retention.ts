import { deleteAuditOlderThan } from '@dormouse/audit-log';
import type { GlobalDatabase } from '@dormouse/database';

export const AUDIT_KEPT_DAYS = 400;
const BATCH = 5_000;

/** Deletes what the audit log has had for 400 days. Several at once delete the same rows at most twice in vain. */
export class AuditRetention {
  constructor(private readonly database: Pick<GlobalDatabase, 'pool'>) {}

  /** @throws the driver's errors */
  async run(): Promise<void> {
    while ((await deleteAuditOlderThan(this.database.pool, AUDIT_KEPT_DAYS, BATCH)) === BATCH);
  }
}
