/**
 * How far each webhook has been told, and who is telling it.
 *
 * Guarantees: at most one dispatcher posts for a cursor at a time. A claim writes a lease into the cursor's row by the
 * database's clock; every later write names the lease and changes nothing once somebody else holds it. The position
 * moves only by its holder, and only forward past events that the webhook took or had not asked for, or that became dead
 * letters in the same statement (a replay takes the lease away and moves it back).
 * - Within a delivery the position is written without waiting for the disk, because the disk would set the pace. A server
 *   of PostgreSQL that crashes forgets at most its last moment, and if the dispatcher is gone too, what was told in that
 *   moment is told again with the same ids. Claims, failures and the end of a delivery are durable at once.
 * - PostgreSQL away: nothing is claimed. What was posted but could not be written down is posted again under the same
 *   id when the lease has run out.
 * - A dispatcher that dies: its leases run out, and others go on from the last position written down.
 */
import { randomUUID } from 'node:crypto';
import type { RegionalDatabase } from '@dormouse/database';
import type { AttemptRecord, Failure } from './attempt-record.js';

/** The right to post for one webhook until its lease ends. */
export interface Claim {
  readonly channelId: string;
  readonly webhookId: string;
  /** Names this claim in the row; another claim of the same cursor has another name. */
  readonly lease: string;
  /** Sequence number of the last event that needs no more telling. */
  position: bigint;
  /** Failed attempts of the event after `position`. */
  attempts: number;
  /** On the monotonic clock: until then nobody else can hold the cursor. */
  leaseEndsAtMs: number;
  /** Dead letters are to be told once more. */
  redriving: boolean;
  /** Finished calls that the next write puts into the delivery log. */
  unlogged: AttemptRecord[];
}

/** Which cursors to claim: those in good standing, or those that wait after a failed attempt. */
export type Health = 'well' | 'failing';

export interface CursorsOptions {
  database: Pick<RegionalDatabase, 'pool'>;
  /** How long a claim holds without renewal. Must exceed the time one attempt can take. */
  leaseMs: number;
  /** Monotonic clock in milliseconds. */
  now?: () => number;
}

interface CursorRow {
  channel_id: string;
  webhook_id: string;
  position: string;
  attempts: number;
  redriving: boolean;
}

/** The column holds milliseconds, rounded: this moment must not become the next one. */
const NOW_DOWN = "date_trunc('milliseconds', clock_timestamp())";

const IS_DUE = `(s.last_seq > c.position OR c.redriving) AND c.next_attempt_at <= clock_timestamp()
  AND (c.leased_until IS NULL OR c.leased_until <= clock_timestamp())`;

/** Selects cursors `due`, skipping rows that another dispatcher is claiming at this moment. */
const claimWhere = (condition: string): string => `
WITH due AS (
  SELECT c.channel_id, c.webhook_id FROM webhook_cursors c JOIN event_sequences s USING (channel_id)
  WHERE ${IS_DUE} AND ${condition}
  ORDER BY c.next_attempt_at LIMIT $3 FOR UPDATE OF c SKIP LOCKED
)
UPDATE webhook_cursors c SET leased_by = $1, leased_until = clock_timestamp() + $2::float8 * interval '1 ms'
FROM due WHERE c.channel_id = due.channel_id AND c.webhook_id = due.webhook_id
RETURNING c.channel_id, c.webhook_id, c.position, c.attempts, c.redriving`;

/** Part of a statement: rows of the delivery log for `$1`, `$2`, given as JSON in `$4`, if there is a row `held`. */
export const LOG_ATTEMPTS = `INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)`;

/** Changes the cursor `$1`, `$2` if lease `$3` still holds it, and writes the delivery log. */
const changeHeld = (set: string, { also = '', tail = '' } = {}): string => `
WITH held AS (
  UPDATE webhook_cursors SET ${set} WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING 1
), logged AS (${LOG_ATTEMPTS})${also}
SELECT count(*)::int AS held${tail} FROM held`;

/** The transaction of a statement that selects this does not wait for the disk when it commits. */
const WITHOUT_DISK = ", set_config('synchronous_commit', 'off', true)";

const GIVE_BACK = 'leased_by = NULL, leased_until = NULL';

export class Cursors {
  readonly leaseMs: number;
  readonly #pool: RegionalDatabase['pool'];
  readonly #now: () => number;

  constructor({ database, leaseMs, now = () => performance.now() }: CursorsOptions) {
    this.#pool = database.pool;
    this.leaseMs = leaseMs;
    this.#now = now;
  }

  /** Claims up to `limit` cursors that have something to tell now, the longest waiting first. */
  async claimDue(limit: number, health: Health): Promise<Claim[]> {
    return this.#claim('claim-due-cursors', claimWhere('(c.attempts > 0) = $4'), limit, health === 'failing');
  }

  /** Claims up to `limit` cursors of these channels that have something to tell and do not wait after a failure. */
  async claimOf(channelIds: readonly string[], limit: number): Promise<Claim[]> {
    const condition = 'c.attempts = 0 AND c.channel_id = ANY ($4::text[])';
    return this.#claim('claim-cursors-of', claimWhere(condition), limit, channelIds);
  }

  /** Milliseconds until the next failing cursor may be tried again; undefined when none waits. */
  async nextRetryInMs(): Promise<number | undefined> {
    const { rows } = await this.#pool.query<{ wait_ms: number | null }>({
      name: 'next-retry',
      text: `SELECT extract(epoch FROM min(next_attempt_at) - clock_timestamp())::float8 * 1000 AS wait_ms
             FROM webhook_cursors WHERE attempts > 0 AND next_attempt_at > clock_timestamp()`,
    });
    const waitMs = rows[0]?.wait_ms ?? undefined;
    return waitMs === undefined ? undefined : Math.max(0, Math.ceil(waitMs));
  }

  /** Moves the position and renews the lease. False: the lease is lost, post nothing more. */
  async advance(claim: Claim, position: bigint): Promise<boolean> {
    const startedAtMs = this.#now();
    const set = `position = $5, attempts = 0, last_status = NULL, last_error = NULL,
      leased_until = clock_timestamp() + $6::float8 * interval '1 ms'`;
    const held = await this.#write('advance-cursor', changeHeld(set, { tail: WITHOUT_DISK }), claim, [
      position,
      this.leaseMs,
    ]);
    if (!held) return false;
    claim.position = position;
    claim.attempts = 0;
    claim.leaseEndsAtMs = startedAtMs + this.leaseMs;
    return true;
  }

  /** Renews the lease alone. False: it is lost. */
  async renew(claim: Claim): Promise<boolean> {
    const startedAtMs = this.#now();
    const set = "leased_until = clock_timestamp() + $5::float8 * interval '1 ms'";
    const held = await this.#write('renew-cursor', changeHeld(set), claim, [this.leaseMs]);
    if (held) claim.leaseEndsAtMs = startedAtMs + this.leaseMs;
    return held;
  }

  /** Moves the position past the last event and gives the cursor back. */
  async finish(claim: Claim, position: bigint): Promise<void> {
    const set = `position = $5, attempts = 0, last_status = NULL, last_error = NULL,
      ${GIVE_BACK}, next_attempt_at = ${NOW_DOWN}`;
    await this.#write('finish-cursor', changeHeld(set), claim, [position]);
  }

  /** Gives the cursor back as it is, behind all that wait; it may be claimed again after `waitMs`. */
  async putBack(claim: Claim, waitMs: number): Promise<void> {
    const set = `position = $5, ${GIVE_BACK}, next_attempt_at = ${NOW_DOWN} + $6::float8 * interval '1 ms'`;
    await this.#write('put-back-cursor', changeHeld(set), claim, [claim.position, waitMs]);
  }

  /** Counts a failed attempt of the event after `position` and gives the cursor back for `waitMs`. */
  async fail(claim: Claim, position: bigint, waitMs: number, failure: Failure): Promise<void> {
    const set = `position = $5, attempts = $6, last_status = $7, last_error = $8, ${GIVE_BACK},
      next_attempt_at = clock_timestamp() + $9::float8 * interval '1 ms'`;
    const values = [position, claim.attempts + 1, failure.status ?? null, failure.reason, waitMs];
    await this.#write('fail-cursor', changeHeld(set), claim, values);
  }

  /** Moves past an event that is not worth keeping, and gives the cursor back. */
  async drop(claim: Claim, position: bigint, failure: Failure): Promise<void> {
    const set = `position = $5, attempts = 0, last_status = $6, last_error = $7, ${GIVE_BACK},
      next_attempt_at = ${NOW_DOWN}`;
    await this.#write('drop-event', changeHeld(set), claim, [position, failure.status ?? null, failure.reason]);
  }

  /**
   * Makes dead letters of what the webhook has asked for after `told`, and gives the cursor back.
   * @param event the one that was tried, `claim.attempts + 1` times
   * @param overdueMs the receiver did not answer: all events older than this go with it; undefined: that one alone
   * @param wanted kinds the webhook has asked for
   */
  async bury(
    claim: Claim,
    told: bigint,
    event: { seq: bigint },
    { failure, overdueMs, wanted }: { failure: Failure; overdueMs: number | undefined; wanted: string[] },
  ): Promise<void> {
    const upTo = `(SELECT greatest($5::bigint, max(seq)) FROM events WHERE channel_id = $1 AND seq > $5
        AND created_at < now() - $9::float8 * interval '1 ms')`;
    const set = `position = ${upTo}, attempts = 0, last_status = $7, last_error = $8, ${GIVE_BACK},
      next_attempt_at = ${NOW_DOWN}`;
    const buried = `, buried AS (
      INSERT INTO dead_letters AS d (channel_id, webhook_id, seq, attempts, last_status, last_error)
      SELECT $1, $2, e.seq, CASE WHEN e.seq = $5 THEN $11::int ELSE 0 END, $7, $8 FROM held, events e
      WHERE e.channel_id = $1 AND e.seq > $6 AND e.seq <= ${upTo}
        AND (e.webhook_id = $2 OR (e.webhook_id IS NULL AND (e.type || '.' || e.method) = ANY ($10::text[])))
      ON CONFLICT (channel_id, webhook_id, seq) DO UPDATE SET died_at = now(), attempts = excluded.attempts,
        last_status = excluded.last_status, last_error = excluded.last_error, redrive_at = NULL
    )`;
    const values = [event.seq, told, failure.status ?? null, failure.reason, overdueMs ?? null, wanted];
    await this.#write('bury-events', changeHeld(set, { also: buried }), claim, [...values, claim.attempts + 1]);
  }

  async #claim(name: string, text: string, limit: number, which: unknown): Promise<Claim[]> {
    const lease = randomUUID();
    const startedAtMs = this.#now();
    const values = [lease, this.leaseMs, limit, which];
    const { rows } = await this.#pool.query<CursorRow>({ name, text, values });
    return rows.map((row) => ({
      channelId: row.channel_id,
      webhookId: row.webhook_id,
      lease,
      position: BigInt(row.position),
      attempts: row.attempts,
      leaseEndsAtMs: startedAtMs + this.leaseMs,
      redriving: row.redriving,
      unlogged: [],
    }));
  }

  async #write(name: string, text: string, claim: Claim, values: unknown[]): Promise<boolean> {
    const logging = claim.unlogged.length;
    const { rows } = await this.#pool.query<{ held: number }>({
      name,
      text,
      values: [claim.channelId, claim.webhookId, claim.lease, JSON.stringify(claim.unlogged), ...values],
    });
    claim.unlogged.splice(0, logging);
    return rows[0]?.held === 1;
  }
}
