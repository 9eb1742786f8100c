/**
 * Whose turn it is at Stripe: one account's facts are read, and its subscription changed, by one process at a time.
 *
 * What it guarantees: a request for a turn is a row, written in the transaction that causes it, so neither a flushed Redis nor
 * a crash loses it; requests that come while a turn is under way lead to one more turn, however many they are. A turn is held by
 * a lease (the database's clock) that is renewed with every write: a process that lost it writes nothing more. It is no
 * advisory lock, because calls of Stripe take seconds and a lock would keep a connection for each, and is lost behind a pooler.
 * With PostgreSQL away nobody takes a turn; with Stripe away the turn is repeated, at most a minute apart.
 */
import { defineStatement, type Queryable } from '@dormouse/database';

/** Times are stored in whole milliseconds, rounded: what is due now may be so up to half of one later. */
const IS_DUE = `due_at < now() + interval '1 ms'`;

const REQUEST = defineStatement({
  name: 'request-billing-turn',
  scope: 'global',
  text: `INSERT INTO billing_turns (account_id, wanted, due_at) VALUES ($1, 1, now())
         ON CONFLICT (account_id) DO UPDATE
         SET wanted = billing_turns.wanted + 1, due_at = least(billing_turns.due_at, now())`,
  parameters: ['text'],
});

const REQUEST_MANY = defineStatement({
  name: 'request-billing-turns',
  scope: 'global',
  text: `INSERT INTO billing_turns (account_id, wanted, due_at)
         SELECT account_id, 1, now() FROM billing_accounts
         WHERE account_id = ANY($1::text[]) AND stripe_customer_id IS NOT NULL ORDER BY account_id
         ON CONFLICT (account_id) DO UPDATE
         SET wanted = billing_turns.wanted + 1, due_at = least(billing_turns.due_at, now())`,
  parameters: ['text[]'],
});

const TAKE = defineStatement({
  name: 'take-billing-turn',
  scope: 'global',
  text: `UPDATE billing_turns SET holder = $2, held_until = now() + $3::float8 * interval '1 ms'
         WHERE account_id = $1 AND ${IS_DUE} AND (held_until IS NULL OR held_until < now())
         RETURNING wanted, failures`,
  parameters: ['text', 'uuid', 'float8'],
  row: { wanted: 'int8', failures: 'int4' },
});

const RENEW = defineStatement({
  name: 'renew-billing-turn',
  scope: 'global',
  text: `UPDATE billing_turns SET held_until = now() + $3::float8 * interval '1 ms'
         WHERE account_id = $1 AND holder = $2 AND held_until > now()`,
  parameters: ['text', 'uuid', 'float8'],
});

const END = defineStatement({
  name: 'end-billing-turn',
  scope: 'global',
  text: `UPDATE billing_turns SET holder = NULL, held_until = NULL,
           failures = CASE WHEN $5::bool THEN failures + 1 ELSE 0 END,
           due_at = CASE WHEN wanted > $3 THEN now() ELSE now() + $4::float8 * interval '1 ms' END
         WHERE account_id = $1 AND holder = $2`,
  parameters: ['text', 'uuid', 'int8', 'float8?', 'bool'],
});

const DUE = defineStatement({
  name: 'due-billing-turns',
  scope: 'global',
  text: `SELECT account_id FROM billing_turns
         WHERE ${IS_DUE} AND (held_until IS NULL OR held_until < now()) ORDER BY due_at LIMIT $1`,
  parameters: ['int8'],
  row: { account_id: 'text' },
});

/** Longer than the longest chain of calls between two writes. */
const LEASE_MS = 120_000;

/** A turn under way. */
export interface Turn {
  accountId: string;
  holder: string;
  wanted: string;
  /** How many turns before this one failed in a row. */
  failures: number;
}

/** The turn is somebody else's by now. */
export class TurnLostError extends Error {
  constructor(accountId: string) {
    super(`the turn of ${accountId} is not held any more`);
    this.name = 'TurnLostError';
  }
}

/** Requests a turn for an account. @param on the connection of the transaction that causes it, or a pool */
export async function requestTurn(on: Queryable, accountId: string): Promise<void> {
  await REQUEST.count(on, accountId);
}

/** Requests a turn for those of the accounts that have a customer at Stripe: their numbers have changed. */
export async function requestTurns(on: Queryable, accountIds: readonly string[]): Promise<void> {
  if (accountIds.length > 0) await REQUEST_MANY.count(on, accountIds);
}

/** Takes the turn of an account, or undefined when none is due or another process holds it. */
export async function takeTurn(on: Queryable, accountId: string, holder: string): Promise<Turn | undefined> {
  const row = await TAKE.first(on, accountId, holder, LEASE_MS);
  return row && { accountId, holder, ...row };
}

/** Renews a turn; in a transaction, it is held until its end. @throws {TurnLostError} */
export async function renewTurn(on: Queryable, { accountId, holder }: Turn): Promise<void> {
  if ((await RENEW.count(on, accountId, holder, LEASE_MS)) === 0) throw new TurnLostError(accountId);
}

/**
 * Ends a turn. What was requested meanwhile is due at once.
 * @param nextInMs when the next turn is due; null: when one is requested
 */
export async function endTurn(on: Queryable, turn: Turn, nextInMs: number | null, failed = false): Promise<void> {
  await END.count(on, turn.accountId, turn.holder, turn.wanted, nextInMs, failed);
}

/** Accounts whose turn is due, the longest first. */
export async function dueTurns(on: Queryable, limit: number): Promise<string[]> {
  return (await DUE.all(on, limit)).map(({ account_id: accountId }) => accountId);
}
