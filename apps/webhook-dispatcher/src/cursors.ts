/**
 * How far each webhook has got, and who is posting for it.
 *
 * Guarantees: at most one dispatcher posts for a cursor at a time. A claim writes a lease into the cursor's row by the
 * database's clock; every later write names the lease and changes nothing once somebody else holds it. The position
 * moves only by its holder, and only forward past events that the webhook accepted or had not asked for, or that became
 * dead letters or held events (held-events.ts) in the same statement. A replay takes the lease away and moves it back.
 * - Within a delivery the position is written without waiting for the disk, because the disk would set the pace. A server
 *   of PostgreSQL that crashes forgets at most its last moment, and if the dispatcher is gone too, what was accepted in
 *   that moment is posted again with the same ids. Claims, failures and the end of a delivery are durable at once.
 * - PostgreSQL away: nothing is claimed. What was posted but could not be written down is posted again under the same
 *   id when the lease has run out.
 * - A dispatcher that dies: its leases run out, and others go on from the last position written down.
 */
import { randomUUID } from 'node:crypto';
import type { RegionalDatabase } from '@dormouse/database';
import type { AttemptRecord, Failure } from './attempt-record.js';
import { CLAIM_FRESH, CLAIM_OF, CLAIM_RETRIES, type AccountRoom } from './claim-statements.js';

/** The right to post for one webhook until its lease ends, and what its holder knows. */
export interface Claim {
  readonly channelId: string;
  readonly webhookId: string;
  readonly accountId: string;
  /** Names this claim in the row; another claim of the same cursor has another name. */
  readonly lease: string;
  /** Sequence number of the last event that is accepted, not wanted, or recorded elsewhere. */
  position: bigint;
  /** Failed attempts since the receiver accepted something. */
  attempts: number;
  /** Different events that it refused since then. */
  refusals: number;
  lastFailure: Failure | undefined;
  /** It waited as a whole, and nothing was accepted since. */
  paused: boolean;
  /** Conversations in which an event waits; later events of these are not posted. */
  held: Set<string>;
  /** It may have held events: they are to be read. */
  hasHeld: boolean;
  /** Its time had come when it was claimed: the first of its held events is due, whatever fractions of a moment say. */
  heldIsDue: boolean;
  /** On the monotonic clock: until then nobody else can hold the cursor. */
  leaseEndsAtMs: number;
  /** Dead letters are to be told once more. */
  redriving: boolean;
  /** Finished calls that the next write puts into the delivery log. */
  unlogged: AttemptRecord[];
  /** Events of held conversations that the next write of the position records as held. */
  queued: QueuedEvent[];
  /** The receiver accepted something since the last write. */
  accepted: boolean;
}

/** An event that waits behind an earlier one of its conversation. */
export interface QueuedEvent {
  seq: bigint;
  conversation: string;
  /** The earlier one is gone meanwhile: this one can be tried. */
  isDue: boolean;
}

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
  account_id: string;
  position: string;
  attempts: number;
  refusals: number;
  last_status: number | null;
  last_error: string | null;
  paused: boolean;
  has_held: boolean;
  due: boolean;
  redriving: boolean;
}

/** The column holds milliseconds, rounded: this moment must not become the next one. */
const NOW_DOWN = "date_trunc('milliseconds', clock_timestamp())";

/** Part of a statement: rows of the delivery log for `$1`, `$2`, given as JSON in `$4`, if there is a row `held`. */
export const LOG_ATTEMPTS = `INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)`;

/** What a claim's holder knows of the receiver, as every write of it stores it: `$5` to `$9`. */
const RECEIVER = `attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9 THEN clock_timestamp() ELSE accepted_at END`;

const queueing = (at: number): string => `, queueing AS (
  INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation, next_attempt_at)
  SELECT $1, $2, q.seq, q.conversation, CASE WHEN q.due THEN clock_timestamp() END
  FROM held, jsonb_to_recordset($${at}::jsonb) AS q(seq bigint, conversation text, due boolean)
  ON CONFLICT DO NOTHING
)`;

/** The transaction of a statement that selects this does not wait for the disk when it commits. */
const WITHOUT_DISK = ", set_config('synchronous_commit', 'off', true)";

const GIVE_BACK = `leased_by = NULL, leased_until = NULL, turn_at = ${NOW_DOWN}`;

const HELD_ROWS = `FROM webhook_held_events h WHERE h.channel_id = $1 AND h.webhook_id = $2`;
/** When a cursor that does not wait as a whole is to be claimed though it has no new events. */
const NEXT_HELD = `next_attempt_at = CASE WHEN redriving THEN ${NOW_DOWN}
    ELSE (SELECT coalesce(min(h.next_attempt_at), clock_timestamp()) ${HELD_ROWS} HAVING count(*) > 0) END,
  has_held = EXISTS (SELECT 1 ${HELD_ROWS})`;
const NO_NEXT = `next_attempt_at = CASE WHEN redriving THEN ${NOW_DOWN} END`;

/** A write of a claim: what it sets beside what is known of the receiver, and what else it does if the lease holds. */
export interface CursorWrite {
  name: string;
  set?: string;
  /** Further parts of the statement; they may refer to `held`, which has a row if the lease holds. */
  also?: string;
  tail?: string;
  /** `$10` and on. */
  values?: unknown[];
  /** It writes the position: events that wait behind others are recorded with it. */
  moves?: boolean;
}

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
    return this.#claim('claim-fresh-cursors', CLAIM_FRESH, limit, room, []);
  }

  /** Claims up to `limit` cursors of these channels with something to post now. */
  async claimOf(channelIds: readonly string[], limit: number, room: AccountRoom): Promise<Claim[]> {
    return this.#claim('claim-cursors-of', CLAIM_OF, limit, room, [channelIds]);
  }

  /** Claims up to `limit` cursors whose pause is over or that have held events to try, accounts in turn. */
  async claimRetries(limit: number, room: AccountRoom): Promise<Claim[]> {
    return this.#claim('claim-retries', CLAIM_RETRIES, limit, room, []);
  }

  /** Milliseconds until the next cursor may be tried again; undefined when none waits. */
  async nextRetryInMs(): Promise<number | undefined> {
    const { rows } = await this.#pool.query<{ wait_ms: number }>({
      name: 'next-retry',
      text: `SELECT extract(epoch FROM next_attempt_at - clock_timestamp())::float8 * 1000 AS wait_ms
             FROM webhook_cursors WHERE next_attempt_at > clock_timestamp() ORDER BY next_attempt_at LIMIT 1`,
    });
    return rows[0] && Math.max(0, Math.ceil(rows[0].wait_ms));
  }

  /** Writes the position and renews the lease. False: the lease is lost, post nothing more. */
  async advance(claim: Claim): Promise<boolean> {
    const startedAtMs = this.#now();
    const holds = await this.write(claim, {
      name: 'advance-cursor',
      set: "position = $10, leased_until = clock_timestamp() + $11::float8 * interval '1 ms'",
      tail: WITHOUT_DISK,
      values: [claim.position, this.leaseMs],
      moves: true,
    });
    if (holds) claim.leaseEndsAtMs = startedAtMs + this.leaseMs;
    return holds;
  }

  /** Renews the lease alone. False: it is lost. */
  async renew(claim: Claim): Promise<boolean> {
    const startedAtMs = this.#now();
    const holds = await this.write(claim, {
      name: 'renew-cursor',
      set: "leased_until = clock_timestamp() + $10::float8 * interval '1 ms'",
      values: [this.leaseMs],
    });
    if (holds) claim.leaseEndsAtMs = startedAtMs + this.leaseMs;
    return holds;
  }

  /** Writes the position and gives the cursor back: all is delivered, or held. */
  async finish(claim: Claim): Promise<void> {
    if (claim.held.size === 0) Object.assign(claim, { attempts: 0, refusals: 0 });
    await this.#giveBack(claim, 'finish-cursor');
  }

  /** Gives the cursor back with events left, behind all that wait. */
  async putBack(claim: Claim): Promise<void> {
    if (claim.paused) await this.pause(claim, 0);
    else await this.#giveBack(claim, 'put-back-cursor');
  }

  /** Gives the cursor back; nothing at all is posted for `waitMs`. */
  async pause(claim: Claim, waitMs: number): Promise<void> {
    await this.write(claim, {
      name: 'pause-cursor',
      set: `position = $10, paused = true, ${GIVE_BACK},
        next_attempt_at = ${NOW_DOWN} + $11::float8 * interval '1 ms'`,
      values: [claim.position, waitMs],
      moves: true,
    });
  }

  /**
   * Makes dead letters of what the webhook has asked for after the position: the event that was tried and, where the
   * receiver did not answer at all, all that are overdue.
   * @param tried its sequence number; one at or before the position is no concern of this
   * @param overdueMs undefined: that one alone
   * @param wanted kinds the webhook has asked for
   */
  async bury(claim: Claim, tried: bigint, overdueMs: number | undefined, wanted: string[]): Promise<boolean> {
    const upTo = `(SELECT greatest($10::bigint, max(seq)) FROM events WHERE channel_id = $1 AND seq > $10
        AND created_at < now() - $12::float8 * interval '1 ms')`;
    const upToTried = tried > claim.position ? tried : claim.position;
    const values = [upToTried, claim.position, overdueMs ?? null, wanted];
    return this.write(claim, {
      name: 'bury-events',
      set: `position = ${upTo}`,
      also: `, buried AS (
        INSERT INTO dead_letters AS d (channel_id, webhook_id, seq, attempts, last_status, last_error)
        SELECT $1, $2, e.seq, CASE WHEN e.seq = $10 THEN 1 ELSE 0 END, $7, $8 FROM held, events e
        WHERE e.channel_id = $1 AND e.seq > $11 AND e.seq <= ${upTo}
          AND (e.webhook_id = $2 OR (e.webhook_id IS NULL AND (e.type || '.' || e.method) = ANY ($13::text[])))
        ON CONFLICT (channel_id, webhook_id, seq) DO UPDATE SET died_at = now(), attempts = excluded.attempts,
          last_status = excluded.last_status, last_error = excluded.last_error, redrive_at = NULL
      )`,
      values,
      moves: true,
    });
  }

  /** Any write under the claim's lease; it also stores what is known of the receiver and the log. False: it is lost. */
  async write(claim: Claim, { name, set, also = '', tail = '', values = [], moves }: CursorWrite): Promise<boolean> {
    const { unlogged, lastFailure, accepted } = claim;
    const logging = unlogged.length;
    const queued = moves ? [...claim.queued] : [];
    const queues = queued.length > 0;
    const more = queues ? [...values, JSON.stringify(queued.map(asRow))] : values;
    const text = `WITH held AS (
        UPDATE webhook_cursors SET ${RECEIVER}${set ? `, ${set}` : ''}
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (${LOG_ATTEMPTS})${queues ? queueing(9 + more.length) : ''}${also}
      SELECT count(*)::int AS held, min(position)::text AS position${tail} FROM held`;
    const known = [claim.attempts, claim.refusals, lastFailure?.status ?? null, lastFailure?.reason ?? null, accepted];
    const { rows } = await this.#pool.query<{ held: number; position: string | null }>({
      name: queues ? `${name}-queueing` : name,
      text,
      values: [claim.channelId, claim.webhookId, claim.lease, JSON.stringify(unlogged), ...known, ...more],
    });
    unlogged.splice(0, logging);
    claim.queued.splice(0, queued.length);
    if (accepted) claim.accepted = false;
    const [row] = rows;
    if (row?.held !== 1) return false;
    if (moves && row.position !== null) claim.position = BigInt(row.position);
    return true;
  }

  async #giveBack(claim: Claim, name: string): Promise<void> {
    const values = [claim.position];
    const set = `position = $10, paused = false, ${GIVE_BACK}`;
    if (!claim.hasHeld) return void (await this.write(claim, { name, set: `${set}, ${NO_NEXT}`, values, moves: true }));
    // What waits behind others is written first: the statement that gives back reads what is held.
    if (claim.queued.length > 0 && !(await this.advance(claim))) return;
    await this.write(claim, { name: `${name}-with-held`, set: `${set}, ${NEXT_HELD}`, values, moves: true });
  }

  async #claim(name: string, text: string, limit: number, room: AccountRoom, more: unknown[]): Promise<Claim[]> {
    const lease = randomUUID();
    const startedAtMs = this.#now();
    const values = [lease, this.leaseMs, limit, room.each, JSON.stringify(room.of), ...more];
    const { rows } = await this.#pool.query<CursorRow>({ name, text, values });
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

function asRow({ seq, conversation, isDue }: QueuedEvent): object {
  return { seq: String(seq), conversation, due: isDue };
}
