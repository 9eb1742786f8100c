/**
 * Computes the standings of an account's numbers from what is stored, and stores those that changed, for the regions to get.
 *
 * What it guarantees: facts, numbers and gifts are read, and standings are written, in one transaction that holds the account's row;
 * a change of any of them marks that row in the transaction of the change (marked-accounts.ts). So no change is missed, and
 * computing twice changes nothing. Neither Stripe nor a region is queried. With the global database away everything stays as stored.
 * Redis holds nothing: an account that is due is found by its row.
 */
import { appendAudit } from '@dormouse/audit-log';
import type { Standing } from '@dormouse/channel-directory';
import { transaction, type Connection, type GlobalDatabase } from '@dormouse/database';
import { nextChangeByClock, standingsOf, type BillingRules, type SubscriptionState } from '../standing/standing.js';
import {
  ACCOUNTS_DUE,
  CLEAR_DIRTY,
  DELETE_ENDED,
  GIFTS,
  LOCK_FACTS,
  NUMBERS,
  STORE_STANDINGS,
  toStanding,
  type FactsRow,
} from './standing-rows.js';

export interface RecomputeParts {
  database: Pick<GlobalDatabase, 'pool'>;
  rules: BillingRules;
  /** Clock in epoch milliseconds. */
  nowMs: () => number;
}

interface NumberOfAccount {
  id: string;
  region: string;
  before: Standing | undefined;
}

interface ChangedNumber extends NumberOfAccount {
  standing: Standing;
}

const MAX_ACCOUNTS = 1_000;

export class Recompute {
  constructor(private readonly parts: RecomputeParts) {}

  /** Accounts whose facts have changed, or whose standings the clock may have changed; the longest first. */
  async due(): Promise<string[]> {
    const { database, nowMs } = this.parts;
    const rows = await ACCOUNTS_DUE.all(database.pool, new Date(nowMs()), MAX_ACCOUNTS);
    return rows.map(({ account_id: accountId }) => accountId);
  }

  /**
   * Computes the standings of an account.
   * @returns the regions that have standings to get
   */
  async account(accountId: string): Promise<string[]> {
    const { database, rules, nowMs } = this.parts;
    return transaction(database, async (connection) => {
      const facts = await LOCK_FACTS.first(connection, accountId);
      if (!facts) return [];
      const subscription = subscriptionOf(facts);
      const now = nowMs();
      const gifts = await GIFTS.all(connection, accountId, new Date(now));
      const numbers = await numbersOf(connection, accountId);
      const freeNumbers = rules.freeNumbers + gifts.reduce((sum, gift) => sum + gift.numbers, 0);
      const stored = numbers.map(({ before }) => before);
      const standings = standingsOf({ subscription, freeNumbers }, stored, rules);
      const changed = numbers
        .map((number, index) => ({ ...number, standing: standings[index] ?? 'good' }))
        .filter(({ before, standing }) => standing !== before);
      await storeChanged(connection, accountId, changed);
      await DELETE_ENDED.count(connection, accountId);
      const giftEndsMs = gifts.flatMap(({ ends_at: endsAt }) => (endsAt === null ? [] : [endsAt.getTime()]));
      const nextMs = rules.isOn ? nextChangeByClock(giftEndsMs, now) : null;
      await CLEAR_DIRTY.count(connection, accountId, nextMs === null ? null : new Date(nextMs));
      return [...new Set(changed.map(({ region }) => region))];
    });
  }
}

async function numbersOf(connection: Connection, accountId: string): Promise<NumberOfAccount[]> {
  const rows = await NUMBERS.all(connection, accountId);
  return rows.map(({ channel_id: id, region, standing }) => ({ id, region, before: toStanding(standing) }));
}

/** Stores changed standings under new versions, and what the audit log keeps of them. */
async function storeChanged(
  connection: Connection,
  accountId: string,
  changed: readonly ChangedNumber[],
): Promise<void> {
  if (changed.length === 0) return;
  await STORE_STANDINGS.count(
    connection,
    accountId,
    changed.map(({ id }) => id),
    changed.map(({ region }) => region),
    changed.map(({ standing }) => standing),
  );
  for (const { id, before, standing } of changed) {
    // A number that is good from the start has changed nothing for anybody.
    if (before === undefined && standing === 'good') continue;
    await appendAudit(connection, {
      accountId,
      actor: { kind: 'system', id: 'billing' },
      action: 'channel.standing',
      object: { kind: 'channel', id },
      details: { standing, before: before ?? 'good' },
    });
  }
}

function subscriptionOf(facts: FactsRow): SubscriptionState | null {
  const { subscription_status: status, paused_kind: pausedKind, bought, oldest_unpaid_at: oldest } = facts;
  if (status === null) return null;
  const asOfMs = facts.facts_as_of?.getTime() ?? null;
  return { status, pausedKind, bought, oldestUnpaidAtMs: oldest?.getTime() ?? null, asOfMs };
}
