/**
 * Free numbers that operators give an account, beside those that every account has.
 *
 * What it guarantees: a gift, its audit entry, the mark that standings are to be computed anew and the request for a turn at Stripe
 * are one transaction, so that it takes effect whatever is away. It ends by the clock: computing standings stores when to compute
 * them next (standings/recompute.ts). An account has one gift in effect at most: another one replaces it.
 */
import { randomUUID } from 'node:crypto';
import { appendAudit, type AuditEntry } from '@dormouse/audit-log';
import { transaction, type GlobalDatabase } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import type { FreeNumbers, FreeNumbersBody } from '@dormouse/management-contract';
import { requestTurn } from '../customers/turns.js';
import { countNumbers } from '../numbers/billed-numbers.js';
import { markAccountsDirty } from '../standings/marked-accounts.js';
import { ADD_GIFT, END_GIFTS, LIST_GIFTS, type GiftRow } from './gift-rows.js';

export type Requester = Pick<AuditEntry, 'actor' | 'address' | 'requestId'>;

export interface GiftParts {
  database: Pick<GlobalDatabase, 'pool'>;
  /** Free numbers of every account. */
  freeNumbers: number;
  nowMs: () => number;
  /** Has standings computed soon. */
  kick: () => void;
}

export class Gifts {
  constructor(private readonly parts: GiftParts) {}

  async list(accountId: string): Promise<FreeNumbers> {
    const { database, freeNumbers, nowMs } = this.parts;
    const now = nowMs();
    const { free } = await countNumbers(database.pool, accountId, { freeNumbers, nowMs: now });
    const rows = await LIST_GIFTS.all(database.pool, accountId);
    return { free, given: rows.map((row) => giftOf(row, now)) };
  }

  /** Gives free numbers in place of what is in effect. @throws {GatewayError} 400 for an end that has passed */
  async give(accountId: string, given: FreeNumbersBody, requester: Requester): Promise<FreeNumbers> {
    const { nowMs } = this.parts;
    const now = new Date(nowMs());
    const endsAt = typeof given.ends_at === 'number' ? new Date(given.ends_at * 1_000) : null;
    if (endsAt && endsAt <= now) throw new GatewayError(400, { details: 'ends_at: must be in the future' });
    const id = `gift_${randomUUID()}`;
    const { numbers, reason } = given;
    const { name: grantedBy = requester.actor.id } = requester.actor;
    await transaction(this.parts.database, async (connection) => {
      await markAccountsDirty(connection, [accountId]);
      await END_GIFTS.count(connection, accountId, now);
      await ADD_GIFT.count(connection, id, accountId, numbers, reason, grantedBy, now, endsAt);
      await requestTurn(connection, accountId);
      await appendAudit(connection, {
        accountId,
        ...requester,
        action: 'free-numbers.give',
        object: { kind: 'gift', id },
        details: { numbers, reason, ends_at: endsAt?.toISOString() ?? null },
      });
    });
    this.parts.kick();
    return this.list(accountId);
  }

  /** Ends what is in effect now. Repeating it has the same result. */
  async end(accountId: string, requester: Requester): Promise<FreeNumbers> {
    await transaction(this.parts.database, async (connection) => {
      await markAccountsDirty(connection, [accountId]);
      const ended = await END_GIFTS.count(connection, accountId, new Date(this.parts.nowMs()));
      if (ended === 0) return;
      await requestTurn(connection, accountId);
      await appendAudit(connection, { accountId, ...requester, action: 'free-numbers.end' });
    });
    this.parts.kick();
    return this.list(accountId);
  }
}

function giftOf(row: GiftRow, nowMs: number): FreeNumbers['given'][number] {
  const { id, numbers, reason, granted_by, created_at: createdAt, ends_at: endsAt } = row;
  return {
    ...{ id, numbers, reason, granted_by },
    created_at: epochS(createdAt),
    ends_at: endsAt && epochS(endsAt),
    in_effect: endsAt === null || endsAt.getTime() > nowMs,
  };
}

const epochS = (date: Date): number => Math.floor(date.getTime() / 1_000);
