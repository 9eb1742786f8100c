/**
 * Deletes what the audit log has had for 400 days. Runs in every control plane; several at once delete the same rows at most twice
 * in vain. Without the database nothing is deleted until the next run.
 */
import { deleteAuditOlderThan } from '@dormouse/audit-log';
import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';

export const AUDIT_KEPT_DAYS = 400;
const INTERVAL_MS = 3_600_000;
const BATCH = 5_000;

export class AuditRetention {
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(
    private readonly database: Pick<GlobalDatabase, 'pool'>,
    private readonly log: Logger,
    private readonly intervalMs = INTERVAL_MS,
  ) {}

  start(): void {
    this.#timer = setInterval(() => {
      this.#running ??= this.run().finally(() => (this.#running = undefined));
    }, this.intervalMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** One run. Never throws. */
  async run(): Promise<void> {
    try {
      while ((await deleteAuditOlderThan(this.database.pool, AUDIT_KEPT_DAYS, BATCH)) === BATCH);
    } catch (error) {
      this.log.warn({ err: error }, 'deleting old entries of the audit log failed; it is tried again');
    }
  }
}
