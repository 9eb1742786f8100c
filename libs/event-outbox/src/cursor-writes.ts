/**
 * Statements that write under the lease of a claim. Each stores what is known of the receiver and the delivery log with
 * what it is for, and does nothing at all once somebody else holds the cursor.
 */
import {
  defineStatement,
  type DeclaredStatement,
  type ParameterType,
  type ParameterValues,
  type Queryable,
} from '@dormouse/database';
import type { Claim, QueuedEvent } from './claim.js';

/** Part of a statement: rows of the delivery log for `$1`, `$2`, given as JSON in `$4`, if there is a row `held`. */
export const LOG_ATTEMPTS = `INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)`;

/** What a claim's holder knows of the receiver, as every write of it stores it: `$5` to `$9`. */
const RECEIVER = `attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END`;

/** `$1` to `$9` of every write: the cursor, the lease, the log, and the receiver. */
const KNOWN = ['text', 'text', 'text', 'jsonb', 'int4', 'int4', 'int4?', 'text?', 'bool'] as const;

const queueing = (at: number): string => `, queueing AS (
  INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation, next_attempt_at)
  SELECT $1, $2, q.seq, q.conversation, CASE WHEN q.due THEN clock_timestamp() END
  FROM held, jsonb_to_recordset($${at}::jsonb) AS q(seq bigint, conversation text, due boolean)
  ON CONFLICT DO NOTHING
)`;

/** A write of a claim: what it sets beside what is known of the receiver, and what else it does if the lease holds. */
interface CursorWriteText<Types extends readonly ParameterType[]> {
  name: string;
  set?: string;
  /** Further parts of the statement; they may refer to `held`, which has a row if the lease holds. */
  also?: string;
  tail?: string;
  /** `$10` and on. */
  parameters: Types;
  /** It writes the position: events that wait behind others are recorded with it. */
  moves?: boolean;
}

type Row = { held: number; position: string | null; redriving: boolean | null };

export interface CursorWrite<Values extends unknown[]> {
  /**
   * Writes, and takes over what the claim had to be written at the call: one write of a claim at a time. False: the lease is
   * lost, and nothing was written.
   */
  run(on: Queryable, claim: Claim, ...values: Values): Promise<boolean>;
}

/** Declares a write of claims. */
export function defineCursorWrite<const Types extends readonly ParameterType[]>(
  write: CursorWriteText<Types>,
): CursorWrite<ParameterValues<Types>> {
  const { moves = false } = write;
  const plain = declared(write, false);
  const withQueued = moves ? declared(write, true) : plain;
  return {
    run: async (on, claim, ...values) => {
      const { unlogged, lastFailure, accepted } = claim;
      const logged = unlogged.length;
      claim.accepted = false; // what is accepted meanwhile is the next write's
      const queued = moves ? [...claim.queued] : [];
      const known = [
        claim.channelId,
        claim.webhookId,
        claim.lease,
        JSON.stringify(unlogged),
        claim.attempts,
        claim.refusals,
        lastFailure?.status ?? null,
        lastFailure?.reason ?? null,
        accepted,
      ];
      const writing =
        queued.length > 0
          ? withQueued.first(on, ...known, ...values, JSON.stringify(queued.map(asRow)))
          : plain.first(on, ...known, ...values);
      const row = await writing.catch((error: unknown) => {
        claim.accepted ||= accepted;
        throw error;
      });
      unlogged.splice(0, logged);
      claim.queued.splice(0, queued.length);
      if (row?.held !== 1) return false;
      if (row.redriving) claim.redriving = true; // requested meanwhile
      const position = moves && row.position !== null ? BigInt(row.position) : claim.position;
      if (position > claim.position) claim.position = position; // it may have moved on meanwhile
      return true;
    },
  };
}

function declared(
  { name, set, also = '', tail = '', parameters }: CursorWriteText<readonly ParameterType[]>,
  queues: boolean,
): DeclaredStatement<ParameterValues<readonly ParameterType[]>, Row> {
  const types: readonly ParameterType[] = [...KNOWN, ...parameters, ...(queues ? (['jsonb'] as const) : [])];
  return defineStatement({
    name: queues ? `${name}-queueing` : name,
    text: `WITH held AS (
        UPDATE webhook_cursors SET ${RECEIVER}${set ? `, ${set}` : ''}
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position, redriving
      ), logged AS (${LOG_ATTEMPTS})${queues ? queueing(types.length) : ''}${also}
      SELECT count(*)::int AS held, min(position)::text AS position, bool_or(redriving) AS redriving${tail} FROM held`,
    parameters: types,
    row: { held: 'int4', position: 'text?', redriving: 'bool?', ...(tail && { set_config: 'text?' }) },
  });
}

function asRow({ seq, conversation, isDue }: QueuedEvent): object {
  return { seq: String(seq), conversation, due: isDue };
}
