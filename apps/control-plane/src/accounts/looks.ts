/**
 * Operators who look at an account as its customer sees it.
 *
 * Guarantees: nothing is shown before the account's audit log has the look: once for an operator and an account in fifteen minutes. The owner sees it there. The global database away: 502, and nothing is shown.
 */
import { appendAudit, listAudit } from '@dormouse/audit-log';
import { transaction, type GlobalDatabase, type Queryable } from '@dormouse/database';
import { lockAccount } from './accounts.js';
import type { Cause } from './cause.js';

const ACTION = 'operator.look';
const NOTED_FOR_MS = 900_000;

export class Looks {
  constructor(
    private readonly database: GlobalDatabase,
    private readonly now: () => number = Date.now,
  ) {}

  /** @param cause whose actor is the operator */
  async note(accountId: string, cause: Cause): Promise<void> {
    if (await this.#isNoted(this.database.pool, accountId, cause)) return;
    await transaction(this.database, async (connection) => {
      // Requests of one page come together: the first of them makes the entry.
      await lockAccount(connection, accountId);
      if (await this.#isNoted(connection, accountId, cause)) return;
      const object = { kind: 'account', id: accountId };
      await appendAudit(connection, { ...cause, accountId, object, action: ACTION });
    });
  }

  async #isNoted(on: Queryable, accountId: string, { actor }: Cause): Promise<boolean> {
    const from = new Date(this.now() - NOTED_FOR_MS);
    return (await listAudit(on, accountId, { count: 1 }, { action: ACTION, actorId: actor.id, from })).length > 0;
  }
}
