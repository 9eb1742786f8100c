/**
 * Events that a webhook did not accept while its other conversations go on, and those that wait behind them.
 *
 * Guarantees: an event at or before a webhook's position is accepted, not wanted, a dead letter, or a row here; it gets
 * here in the statement that moves the position past it, and leaves in the one that records its end. Within a
 * conversation only the first row that is not set aside is tried, so that its events are posted in order; events that
 * were set aside are tried by themselves. Every write names the cursor's lease. A dispatcher that dies between the end
 * of one event and the turn of the next leaves a conversation whose first row has no time: reading mends it.
 */
import { defineStatement, narrowed, type RegionalDatabase } from '@dormouse/database';
import type { WebhookEventMethod, WebhookEventType } from '@dormouse/gateway-contract';
import type { Claim } from './claim.js';
import { defineCursorWrite } from './cursor-writes.js';
import { isEvent, toPendingEvent, type PendingEvent } from './event-rows.js';

/** An event that is to be tried again. */
export interface HeldEvent {
  seq: bigint;
  /** Undefined: there is no such event any more. */
  event: PendingEvent | undefined;
  conversation: string;
  /** Failed attempts so far. */
  attempts: number;
  /** Since the first of them; 0 when there is none. */
  failingForMs: number;
  /** The receiver has accepted another event since the first of them. */
  aliveSince: boolean;
  isSetAside: boolean;
  /** The one webhook the event is for; null: for all that want its kind. */
  webhookId: string | null;
}

/**
 * Which row is tried: one whose time has come (in order, those set aside last), the first one whose time will come, or, to
 * see whether the receiver is back, the one that was tried least.
 */
const DUE = `h.next_attempt_at <= clock_timestamp() ORDER BY h.set_aside_at IS NOT NULL, h.seq`;
const EARLIEST = `h.next_attempt_at IS NOT NULL ORDER BY h.next_attempt_at, h.seq`;
const TRIAL = `h.next_attempt_at IS NOT NULL ORDER BY h.set_aside_at IS NOT NULL, h.attempts, h.seq`;

const next = (name: string, which: string) =>
  defineStatement({
    name,
    text: `
SELECT h.seq, h.conversation AS held_in, h.attempts, h.set_aside_at IS NOT NULL AS set_aside,
  coalesce(extract(epoch FROM clock_timestamp() - h.first_failed_at), 0)::float8 * 1000 AS failing_for_ms,
  coalesce(c.accepted_at > h.first_failed_at, false) AS alive_since,
  e.id, e.type, e.method, e.payload, e.conversation, e.traceparent, e.webhook_id,
  extract(epoch FROM clock_timestamp() - e.created_at)::float8 * 1000 AS age_ms,
  extract(epoch FROM clock_timestamp() - greatest(e.created_at, c.since))::float8 * 1000 AS waited_ms
FROM webhook_held_events h JOIN webhook_cursors c USING (channel_id, webhook_id)
  LEFT JOIN events e ON e.channel_id = h.channel_id AND e.seq = h.seq
WHERE h.channel_id = $1 AND h.webhook_id = $2 AND ${which} LIMIT 1`,
    parameters: ['text', 'text'],
    row: {
      seq: 'int8',
      held_in: 'text',
      attempts: 'int4',
      set_aside: 'bool',
      failing_for_ms: 'float8',
      alive_since: 'bool',
      id: 'uuid?',
      type: narrowed<WebhookEventType | null>('text?'),
      method: narrowed<WebhookEventMethod | null>('text?'),
      payload: narrowed<Record<string, unknown> | null>('jsonb?'),
      conversation: 'text?',
      traceparent: 'text?',
      webhook_id: 'text?',
      age_ms: 'float8?',
      waited_ms: 'float8?',
    },
  });

const NEXT_DUE = next('due-held-event', DUE);
const NEXT_BY_TIME = next('earliest-held-event', EARLIEST);
const NEXT_FOR_TRIAL = next('held-event-for-trial', TRIAL);

/** First rows of conversations; `$3` narrows them to one, null means all. */
const FIRSTS = `
SELECT DISTINCT ON (h.conversation) h.conversation, h.seq, h.next_attempt_at FROM webhook_held_events h
WHERE h.channel_id = $1 AND h.webhook_id = $2 AND h.set_aside_at IS NULL AND ($3::text IS NULL OR h.conversation = $3)
ORDER BY h.conversation, h.seq`;

const HELD_CONVERSATIONS = defineStatement({
  name: 'held-conversations',
  text: FIRSTS,
  parameters: ['text', 'text', 'text?'],
  row: { conversation: 'text', seq: 'int8', next_attempt_at: 'timestamptz?' },
});

const LET_TRY = defineStatement({
  name: 'held-conversation-goes-on',
  text: `WITH first AS (${FIRSTS})
         UPDATE webhook_held_events h SET next_attempt_at = coalesce(h.next_attempt_at, clock_timestamp())
         FROM first WHERE h.channel_id = $1 AND h.webhook_id = $2 AND h.seq = first.seq`,
  parameters: ['text', 'text', 'text?'],
});

const LET_ALL_TRY = defineStatement({
  name: 'held-events-due',
  text: `UPDATE webhook_held_events SET next_attempt_at = clock_timestamp()
         WHERE channel_id = $1 AND webhook_id = $2 AND next_attempt_at > clock_timestamp() AND set_aside_at IS NULL
           AND seq <> ALL ($3::bigint[])`,
  parameters: ['text', 'text', 'int8[]'],
});

const IS_ROW = 'h.channel_id = $1 AND h.webhook_id = $2 AND h.seq = $10';

const HOLD = defineCursorWrite({
  name: 'hold-event',
  set: `position = $10, has_held = true,
    next_attempt_at = least(next_attempt_at, clock_timestamp() + $12::float8 * interval '1 ms')`,
  also: `, holding AS (
    INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation, attempts, next_attempt_at,
      first_failed_at, last_status, last_error)
    SELECT $1, $2, $10, $11, 1, clock_timestamp() + $12::float8 * interval '1 ms', clock_timestamp(), $7, $8 FROM held
  )`,
  parameters: ['int8', 'text', 'float8'],
  moves: true,
});

const FAILED = defineCursorWrite({
  name: 'held-event-failed',
  also: `, failed AS (
    UPDATE webhook_held_events h SET attempts = $13, last_status = $7, last_error = $8,
      next_attempt_at = clock_timestamp() + $11::float8 * interval '1 ms',
      first_failed_at = coalesce(h.first_failed_at, clock_timestamp()),
      set_aside_at = CASE WHEN $12::bool THEN coalesce(h.set_aside_at, clock_timestamp()) END
    FROM held WHERE ${IS_ROW}
  )`,
  parameters: ['int8', 'float8', 'bool', 'int4'],
});

const LEAVE = defineCursorWrite({
  name: 'held-event-left',
  also: `, gone AS (DELETE FROM webhook_held_events h USING held WHERE ${IS_ROW})`,
  parameters: ['int8'],
});

const MOVE_TO_DEAD_LETTERS = defineCursorWrite({
  name: 'held-events-to-dead-letters',
  also: `, gone AS (
    DELETE FROM webhook_held_events h USING held, events e
    WHERE h.channel_id = $1 AND h.webhook_id = $2 AND e.channel_id = h.channel_id AND e.seq = h.seq
      AND (h.seq = $10 OR e.created_at < now() - $11::float8 * interval '1 ms') RETURNING h.seq, h.attempts
  ), died AS (
    INSERT INTO dead_letters (channel_id, webhook_id, seq, attempts, last_status, last_error)
    SELECT $1, $2, g.seq, g.attempts + CASE WHEN g.seq = $10 THEN 1 ELSE 0 END, $7, $8 FROM gone g
    ON CONFLICT (channel_id, webhook_id, seq) DO UPDATE SET died_at = now(), attempts = excluded.attempts,
      last_status = excluded.last_status, last_error = excluded.last_error, redrive_at = NULL
  )`,
  parameters: ['int8', 'float8?'],
});

export class HeldEvents {
  readonly #pool: RegionalDatabase['pool'];

  constructor(database: Pick<RegionalDatabase, 'pool'>) {
    this.#pool = database.pool;
  }

  /** Reads which conversations wait, and lets the first event of each be tried where it has no time. */
  async read(claim: Claim): Promise<void> {
    const rows = await HELD_CONVERSATIONS.all(this.#pool, claim.channelId, claim.webhookId, null);
    claim.held = new Set(rows.map(({ conversation }) => conversation));
    for (const row of rows) if (row.next_attempt_at === null) await this.#letTry(claim, row.conversation);
  }

  /** The event whose turn it is; undefined when none is due. */
  async due(claim: Claim): Promise<HeldEvent | undefined> {
    const due = await this.#next(NEXT_DUE, claim);
    const first = due ?? (claim.heldIsDue ? await this.#next(NEXT_BY_TIME, claim) : undefined);
    claim.heldIsDue = false;
    return first;
  }

  /** The event to try when nothing shows that the receiver accepts anything. */
  async forTrial(claim: Claim): Promise<HeldEvent | undefined> {
    claim.heldIsDue = false;
    return this.#next(NEXT_FOR_TRIAL, claim);
  }

  /** Records the first failure of an event and moves the position past it. False: the lease is lost. */
  async hold(claim: Claim, seq: bigint, conversation: string, waitMs: number): Promise<boolean> {
    claim.held.add(conversation);
    claim.hasHeld = true;
    return HOLD.run(this.#pool, claim, seq, conversation, waitMs);
  }

  /** Counts another failed attempt. `setAside`: its conversation goes on without it from now on. */
  async failed(claim: Claim, held: HeldEvent, waitMs: number, setAside: boolean): Promise<boolean> {
    const holds = await FAILED.run(this.#pool, claim, held.seq, waitMs, setAside, held.attempts + 1);
    if (holds && setAside && !held.isSetAside) await this.#letTry(claim, held.conversation);
    return holds;
  }

  /** The event was accepted, or is not to be posted any more: the next of its conversation has its turn. */
  async leave(claim: Claim, held: HeldEvent): Promise<boolean> {
    const holds = await LEAVE.run(this.#pool, claim, held.seq);
    if (holds && !held.isSetAside) await this.#letTry(claim, held.conversation);
    return holds;
  }

  /**
   * Makes a dead letter of the event.
   * @param overdueMs the receiver did not answer at all: all held events older than this go with it
   */
  async moveToDeadLetters(claim: Claim, held: HeldEvent, overdueMs: number | undefined): Promise<boolean> {
    const holds = await MOVE_TO_DEAD_LETTERS.run(this.#pool, claim, held.seq, overdueMs ?? null);
    if (holds && overdueMs !== undefined) await this.read(claim);
    else if (holds && !held.isSetAside) await this.#letTry(claim, held.conversation);
    return holds;
  }

  /** The receiver is back: what waits for its next attempt can be tried now, but for what was tried just before. */
  async letAllTry(claim: Claim, tried: readonly bigint[]): Promise<void> {
    await LET_ALL_TRY.count(this.#pool, claim.channelId, claim.webhookId, tried);
  }

  /** Gives the first event of a conversation its turn; none left, and the conversation waits no more. */
  async #letTry(claim: Claim, conversation: string): Promise<void> {
    if ((await LET_TRY.count(this.#pool, claim.channelId, claim.webhookId, conversation)) > 0) return;
    const waiting = claim.queued.find((queued) => queued.conversation === conversation);
    if (waiting) waiting.isDue = true;
    else claim.held.delete(conversation);
  }

  async #next(which: typeof NEXT_DUE, claim: Claim): Promise<HeldEvent | undefined> {
    const row = await which.first(this.#pool, claim.channelId, claim.webhookId);
    return (
      row && {
        seq: BigInt(row.seq),
        event: isEvent(row) ? toPendingEvent(row) : undefined,
        conversation: row.held_in,
        attempts: row.attempts,
        failingForMs: row.failing_for_ms,
        aliveSince: row.alive_since,
        isSetAside: row.set_aside,
        webhookId: row.webhook_id,
      }
    );
  }
}
