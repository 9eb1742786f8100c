/**
 * How far each webhook has got, and who is posting for it.
 *
 * Guarantees: at most one dispatcher posts for a cursor at a time. A claim writes a lease into the cursor's row by the
 * database's clock; every later write names the lease and changes nothing once somebody else holds it. The position
 * moves only by its holder, and only forward past events that the webhook accepted or does not want, or that became
 * dead letters or held events (held-events.ts) in the same statement. A replay takes the lease away and moves it back.
 * - Within a delivery the position is written without waiting for the disk, because the disk would set the pace. A server
 *   of PostgreSQL that crashes forgets at most its last moment, and if the dispatcher is gone too, what was accepted in
 *   that moment is posted again with the same ids. Claims, failures and the end of a delivery are durable at once.
 * - PostgreSQL away: nothing is claimed. What was posted but could not be recorded is posted again under the same
 *   id when the lease has run out.
 * - A dispatcher that dies: its leases run out, and others go on from the last position recorded.
 */
import { randomUUID } from 'node:crypto';
import { defineStatement, type RegionalDatabase } from '@dormouse/database';
import type { Claim } from './claim.js';
import { CLAIM_FRESH, CLAIM_OF, CLAIM_RETRIES, type AccountRoom, type CursorRow } from './claim-statements.js';
import { defineCursorWrite } from './cursor-writes.js';
import { isForWebhook } from './event-rows.js';

export interface CursorsOptions {
  database: Pick<RegionalDatabase, 'pool'>;
  /** How long a claim holds without renewal. Must exceed the time one attempt can take. */
  leaseMs: number;
  /** Monotonic clock in milliseconds. */
  now?: () => number;
}

/** The column holds milliseconds, rounded: this moment must not become the next one. */
const NOW_DOWN = "date_trunc('milliseconds', clock_timestamp())";

/** The transaction of a statement that selects this does not wait for the disk when it commits. */
const WITHOUT_DISK = ", set_config('synchronous_commit', 'off', true)";

const GIVE_BACK = `leased_by = NULL, leased_until = NULL, turn_at = ${NOW_DOWN}`;

const HELD_ROWS = `FROM webhook_held_events h WHERE h.channel_id = $1 AND h.webhook_id = $2`;
/** When a cursor that does not wait as a whole is to be claimed though it has no new events. */
const NEXT_HELD = `next_attempt_at = CASE WHEN redriving THEN ${NOW_DOWN}
    ELSE (SELECT coalesce(min(h.next_attempt_at), clock_timestamp()) ${HELD_ROWS} HAVING count(*) > 0) END,
  has_held = EXISTS (SELECT 1 ${HELD_ROWS})`;
const NO_NEXT = `next_attempt_at = CASE WHEN redriving THEN ${NOW_DOWN} END`;

const NEXT_RETRY = defineStatement({
  name: 'next-retry',
  text: `SELECT extract(epoch FROM next_attempt_at - clock_timestamp())::float8 * 1000 AS wait_ms
         FROM webhook_cursors WHERE next_attempt_at > clock_timestamp() ORDER BY next_attempt_at LIMIT 1`,
  parameters: [],
  row: { wait_ms: 'float8' },
});

const ADVANCE = defineCursorWrite({
  name: 'advance-cursor',
  set: "position = $10, leased_until = clock_timestamp() + $11::float8 * interval '1 ms'",
  tail: WITHOUT_DISK,
  parameters: ['int8', 'float8'],
  moves: true,
});

const RENEW = defineCursorWrite({
  name: 'renew-cursor',
  set: "leased_until = clock_timestamp() + $10::float8 * interval '1 ms'",
  parameters: ['float8'],
});

const PAUSE = defineCursorWrite({
  name: 'pause-cursor',
  set: `position = $10, paused = true, ${GIVE_BACK},
    next_attempt_at = ${NOW_DOWN} + $11::float8 * interval '1 ms'`,
  parameters: ['int8', 'float8'],
  moves: true,
});

const giveBack = (name: string, next: string) =>
  defineCursorWrite({
    name,
    set: `position = $10, paused = false, ${GIVE_BACK}, ${next}`,
    parameters: ['int8'],
    moves: true,
  });

const FINISH = { plain: giveBack('finish-cursor', NO_NEXT), withHeld: giveBack('finish-cursor-with-held', NEXT_HELD) };
const PUT_BACK = {
  plain: giveBack('put-back-cursor', NO_NEXT),
  withHeld: giveBack('put-back-cursor-with-held', NEXT_HELD),
};

const DEAD_UP_TO = `(SELECT greatest($10::bigint, max(seq)) FROM events WHERE channel_id = $1 AND seq > $10
    AND created_at < now() - $12::float8 * interval '1 ms')`;

const MOVE_TO_DEAD_LETTERS = defineCursorWrite({
  name: 'events-to-dead-letters',
  set: `position = ${DEAD_UP_TO}`,
  also: `, died AS (
    INSERT INTO dead_letters AS d (channel_id, webhook_id, seq, attempts, last_status, last_error)
    SELECT $1, $2, e.seq, CASE WHEN e.seq = $10 THEN 1 ELSE 0 END, $7, $8 FROM held, events e
    WHERE e.channel_id = $1 AND e.seq > $11 AND e.seq <= ${DEAD_UP_TO} AND ${isForWebhook('$2', '$13')}
    ON CONFLICT (channel_id, webhook_id, seq) DO UPDATE SET died_at = now(), attempts = excluded.attempts,
      last_status = excluded.last_status, last_error = excluded.last_error, redrive_at = NULL
  )`,
  parameters: ['int8', 'int8', 'float8?', 'text[]'],
  moves: true,
});

export class Cursors {
  readonly leaseMs: number;
  readonly #pool: RegionalDatabase['pool'];
  readonly #now: () => number;

  constructor({ database, leaseMs, now = () => performance.now() }: CursorsOptions) {
    this.#pool = database.pool;
    this.leaseMs = leaseMs;
    this.#now = now;
  }

  /** Claims up to `limit` cursors with events after their position, the longest waiting first. */
  async claimFresh(limit: number, room: AccountRoom): Promise<Claim[]> {
    return this.#claim((lease) => CLAIM_FRESH.all(this.#pool, ...this.#terms(lease, limit, room)));
  }

  /** Claims up to `limit` cursors of these channels with something to post now. */
  async claimOf(channelIds: readonly string[], limit: number, room: AccountRoom): Promise<Claim[]> {
    return this.#claim((lease) => CLAIM_OF.all(this.#pool, ...this.#terms(lease, limit, room), channelIds));
  }

  /** Claims up to `limit` cursors whose pause is over or that have held events to try, accounts in turn. */
  async claimRetries(limit: number, room: AccountRoom): Promise<Claim[]> {
    return this.#claim((lease) => CLAIM_RETRIES.all(this.#pool, ...this.#terms(lease, limit, room)));
  }

  /** Milliseconds until the next cursor may be tried again; undefined when none waits. */
  async nextRetryInMs(): Promise<number | undefined> {
    const row = await NEXT_RETRY.first(this.#pool);
    return row && Math.max(0, Math.ceil(row.wait_ms));
  }

  /** Writes the position and renews the lease. False: the lease is lost, post nothing more. */
  async advance(claim: Claim): Promise<boolean> {
    const startedAtMs = this.#now();
    const holds = await ADVANCE.run(this.#pool, claim, claim.position, this.leaseMs);
    if (holds) claim.leaseEndsAtMs = startedAtMs + this.leaseMs;
    return holds;
  }

  /** Renews the lease alone. False: it is lost. */
  async renew(claim: Claim): Promise<boolean> {
    const startedAtMs = this.#now();
    const holds = await RENEW.run(this.#pool, claim, this.leaseMs);
    if (holds) claim.leaseEndsAtMs = startedAtMs + this.leaseMs;
    return holds;
  }

  /** Writes the position and gives the cursor back: all is delivered, or held. */
  async finish(claim: Claim): Promise<void> {
    if (claim.held.size === 0) Object.assign(claim, { attempts: 0, refusals: 0 });
    await this.#giveBack(claim, FINISH);
  }

  /** Gives the cursor back with events left, behind all that wait. */
  async putBack(claim: Claim): Promise<void> {
    if (claim.paused) await this.pause(claim, 0);
    else await this.#giveBack(claim, PUT_BACK);
  }

  /** Gives the cursor back; nothing at all is posted for `waitMs`. */
  async pause(claim: Claim, waitMs: number): Promise<void> {
    await PAUSE.run(this.#pool, claim, claim.position, waitMs);
  }

  /**
   * Makes dead letters of what the webhook wants after the position: the event that was tried and, where the
   * receiver did not answer at all, all that are overdue.
   * @param tried its sequence number; one at or before the position is no concern of this
   * @param overdueMs undefined: that one alone
   * @param wanted kinds of events that the webhook wants
   */
  async moveToDeadLetters(
    claim: Claim,
    tried: bigint,
    overdueMs: number | undefined,
    wanted: string[],
  ): Promise<boolean> {
    const upToTried = tried > claim.position ? tried : claim.position;
    return MOVE_TO_DEAD_LETTERS.run(this.#pool, claim, upToTried, claim.position, overdueMs ?? null, wanted);
  }

  async #giveBack(claim: Claim, { plain, withHeld }: typeof FINISH): Promise<void> {
    if (!claim.hasHeld) return void (await plain.run(this.#pool, claim, claim.position));
    // What waits behind others is written first: the statement that gives back reads what is held.
    if (claim.queued.length > 0 && !(await this.advance(claim))) return;
    await withHeld.run(this.#pool, claim, claim.position);
  }

  #terms(lease: string, limit: number, room: AccountRoom): [string, number, number, number, string] {
    return [lease, this.leaseMs, limit, room.each, JSON.stringify(room.of)];
  }

  async #claim(claim: (lease: string) => Promise<CursorRow[]>): Promise<Claim[]> {
    const lease = randomUUID();
    const startedAtMs = this.#now();
    const rows = await claim(lease);
    return rows.map((row) => ({
      channelId: row.channel_id,
      webhookId: row.webhook_id,
      accountId: row.account_id,
      lease,
      position: BigInt(row.position),
      attempts: row.attempts,
      refusals: row.refusals,
      lastFailure:
        row.last_error === null ? undefined : { status: row.last_status ?? undefined, reason: row.last_error },
      paused: row.paused && row.attempts > 0,
      held: new Set(),
      hasHeld: row.has_held,
      heldIsDue: row.due,
      leaseEndsAtMs: startedAtMs + this.leaseMs,
      redriving: row.redriving,
      unlogged: [],
      queued: [],
      accepted: false,
    }));
  }
}
