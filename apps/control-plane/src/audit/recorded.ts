import { appendAudit, type AuditEntry } from '@dormouse/audit-log';
import type { GlobalDatabase } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';

/**
 * Does something in a region, which no transaction of the global database can hold: the entry is stored first, so nothing is done
 * that the log does not have. If it fails, a second entry (`<action>.failed`) has the status of the answer.
 */
export async function recorded<Result>(
  database: Pick<GlobalDatabase, 'pool'>,
  entry: AuditEntry,
  work: () => Promise<Result>,
): Promise<Result> {
  await appendAudit(database.pool, entry);
  try {
    return await work();
  } catch (error) {
    const status = error instanceof GatewayError ? error.status : 502;
    const failed = { ...entry, action: `${entry.action}.failed`, details: { ...entry.details, status } };
    // The log has the attempt in any case.
    await appendAudit(database.pool, failed).catch(() => undefined);
    throw error;
  }
}
