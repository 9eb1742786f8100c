/**
 * How far each webhook has been told, and who is telling it.
 *
 * Guarantees: at most one dispatcher posts for a cursor at a time. A claim writes a lease into the cursor's row by the
 * database's clock; every later write names the lease and changes nothing once somebody else holds it. The position
 * moves only by its holder, and only forward past events that the webhook took or had not asked for.
 * - PostgreSQL away: nothing is claimed. What was posted but could not be written down is posted again under the same
 *   id when the lease has run out.
 * - A dispatcher that dies: its leases run out, and others go on from the last position written down.
 */
import { randomUUID } from 'node:crypto';
import type { RegionalDatabase } from '@dormouse/database';

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
}

/** Why an attempt did not count as taken; kept in the row for people to read. */
export interface Failure {
  /** The receiver's HTTP status, if it gave one. */
  status: number | undefined;
  reason: string;
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
}

/** The column holds milliseconds, rounded: this moment must not become the next one. */
const NOW_DOWN = "date_trunc('milliseconds', clock_timestamp())";

const IS_DUE = `s.last_seq > c.position AND c.next_attempt_at <= clock_timestamp()
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
RETURNING c.channel_id, c.webhook_id, c.position, c.attempts`;

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
    const held = await this.#write({
      name: 'advance-cursor',
      text: `UPDATE webhook_cursors SET position = $4, attempts = 0, last_status = NULL, last_error = NULL,
               leased_until = clock_timestamp() + $5::float8 * interval '1 ms'
             WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3`,
      values: [claim.channelId, claim.webhookId, claim.lease, position, this.leaseMs],
    });
    if (!held) return false;
    claim.position = position;
    claim.attempts = 0;
    claim.leaseEndsAtMs = startedAtMs + this.leaseMs;
    return true;
  }

  /** Renews the lease alone. False: it is lost. */
  async renew(claim: Claim): Promise<boolean> {
    const startedAtMs = this.#now();
    const held = await this.#write({
      name: 'renew-cursor',
      text: `UPDATE webhook_cursors SET leased_until = clock_timestamp() + $4::float8 * interval '1 ms'
             WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3`,
      values: [claim.channelId, claim.webhookId, claim.lease, this.leaseMs],
    });
    if (held) claim.leaseEndsAtMs = startedAtMs + this.leaseMs;
    return held;
  }

  /** Moves the position past the last event and gives the cursor back. */
  async finish(claim: Claim, position: bigint): Promise<void> {
    await this.#write({
      name: 'finish-cursor',
      text: `UPDATE webhook_cursors SET position = $4, attempts = 0, last_status = NULL, last_error = NULL,
               leased_by = NULL, leased_until = NULL, next_attempt_at = ${NOW_DOWN}
             WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3`,
      values: [claim.channelId, claim.webhookId, claim.lease, position],
    });
  }

  /** Gives the cursor back as it is, behind all that wait; it may be claimed again after `waitMs`. */
  async putBack(claim: Claim, waitMs: number): Promise<void> {
    await this.#write({
      name: 'put-back-cursor',
      text: `UPDATE webhook_cursors SET position = $4, leased_by = NULL, leased_until = NULL,
               next_attempt_at = ${NOW_DOWN} + $5::float8 * interval '1 ms'
             WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3`,
      values: [claim.channelId, claim.webhookId, claim.lease, claim.position, waitMs],
    });
  }

  /** Counts a failed attempt of the event after `position` and gives the cursor back for `waitMs`. */
  async fail(claim: Claim, position: bigint, waitMs: number, failure: Failure): Promise<void> {
    await this.#write({
      name: 'fail-cursor',
      text: `UPDATE webhook_cursors SET position = $4, attempts = $5, last_status = $6, last_error = $7,
               leased_by = NULL, leased_until = NULL,
               next_attempt_at = clock_timestamp() + $8::float8 * interval '1 ms'
             WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3`,
      values: [
        claim.channelId,
        claim.webhookId,
        claim.lease,
        position,
        claim.attempts + 1,
        failure.status ?? null,
        failure.reason,
        waitMs,
      ],
    });
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
    }));
  }

  async #write(query: { name: string; text: string; values: unknown[] }): Promise<boolean> {
    const { rowCount } = await this.#pool.query(query);
    return rowCount === 1;
  }
}
