import { transaction, type GlobalDatabase } from '@dormouse/database';
import type { BillingRules } from '../standing/standing.js';
import { MARK_ALL_DIRTY, TAKE_RULES } from './standing-rows.js';

/** Has every account computed anew when the configuration differs from that of the last start: free numbers, grace, on or off. */
export class RulesInForce {
  #taken = false;

  constructor(
    private readonly database: Pick<GlobalDatabase, 'pool'>,
    private readonly rules: BillingRules,
  ) {}

  /** Compares once in the life of a process, as soon as the database answers. */
  async take(): Promise<void> {
    if (this.#taken) return;
    const { isOn, freeNumbers, graceMs } = this.rules;
    await transaction(this.database, async (connection) => {
      const changed = await TAKE_RULES.count(connection, isOn, freeNumbers, graceMs);
      if (changed > 0) await MARK_ALL_DIRTY.count(connection);
    });
    this.#taken = true;
  }
}
