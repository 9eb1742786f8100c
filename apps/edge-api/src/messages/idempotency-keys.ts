/**
 * Answers to requests with an `Idempotency-Key`.
 *
 * Guarantee: within 24 h the same key with the same request gets the first final answer: a success, or an error of the
 * request itself (400, 403, 404). Errors that may be retried (429, 502, 503) are not stored, but all attempts give the
 * message the same name (`sendAs`), so that it arrives once, whatever the outcome of earlier attempts. The same key with
 * another request is 400. PostgreSQL unreachable at the start: 503, nothing was sent. Unreachable afterwards: the caller
 * gets the answer, which is not stored, and the worker recognizes a repetition by the message's name.
 */
import { createHash } from 'node:crypto';
import { defineDeletedChannelSearch } from '@dormouse/channel-directory';
import { defineStatement, narrowed, type RegionalDatabase, type RowOfColumns } from '@dormouse/database';
import {
  GatewayError,
  toErrorReply,
  fromErrorReply,
  type ErrorReply,
  type ErrorStatus,
} from '@dormouse/gateway-contract';

const KEPT_FOR = '24 hours';
/** No longer than keys are kept: what is used again after that is of another day. */
const DAY_MS = 24 * 3_600_000;
const KEPT_REFUSALS: readonly ErrorStatus[] = [400, 403, 404];
const MAX_KEY_LENGTH = 255;
const SWEEP_BATCH = 5_000;

/** A request under a key. */
export interface KeyedRequest {
  channelId: string;
  /** The header's value. */
  key: string;
  /** Content of the request: requests are equal when their JSON is. */
  content: unknown;
}

type KeptAnswer = { status: 200; result: unknown } | { status: ErrorStatus; error: ErrorReply };

const ROW = {
  request: 'bytea',
  answer: narrowed<KeptAnswer | null>('jsonb?'),
  created_at: 'timestamptz',
} as const;
type Row = RowOfColumns<typeof ROW>;

const SWEEP = defineStatement({
  name: 'sweep-idempotency-keys',
  text: `DELETE FROM idempotency_keys WHERE (channel_id, key) IN (
           SELECT channel_id, key FROM idempotency_keys
           WHERE created_at < now() - interval '${KEPT_FOR}' LIMIT ${SWEEP_BATCH})`,
  parameters: [],
});

const OF_DELETED_CHANNELS = defineDeletedChannelSearch(
  'channels-with-keys-left',
  'EXISTS (SELECT 1 FROM idempotency_keys k WHERE k.channel_id = c.id)',
);

const FORGET = defineStatement({
  name: 'forget-idempotency-keys',
  text: 'DELETE FROM idempotency_keys WHERE channel_id = ANY ($1)',
  parameters: ['text[]'],
});

const CLAIM = defineStatement({
  name: 'claim-idempotency-key',
  text: `INSERT INTO idempotency_keys AS kept (channel_id, key, request) VALUES ($1, $2, $3)
         ON CONFLICT (channel_id, key) DO UPDATE SET request = excluded.request, answer = NULL, created_at = now()
         WHERE kept.created_at < now() - interval '${KEPT_FOR}'
         RETURNING request, answer, created_at`,
  parameters: ['text', 'bytea', 'bytea'],
  row: ROW,
});

const FIND = defineStatement({
  name: 'find-idempotency-key',
  text: 'SELECT request, answer, created_at FROM idempotency_keys WHERE channel_id = $1 AND key = $2',
  parameters: ['text', 'bytea'],
  row: ROW,
});

const KEEP = defineStatement({
  name: 'keep-answer',
  text: `UPDATE idempotency_keys SET answer = coalesce(answer, $3::jsonb)
         WHERE channel_id = $1 AND key = $2 RETURNING answer`,
  parameters: ['text', 'bytea', 'jsonb'],
  row: { answer: narrowed<KeptAnswer | null>('jsonb?') },
});

export class IdempotencyKeys {
  private readonly pool: RegionalDatabase['pool'];

  constructor({ database }: { database: Pick<RegionalDatabase, 'pool'> }) {
    this.pool = database.pool;
  }

  /**
   * Answers a request: with the stored answer, or by carrying it out.
   * @param work carries it out; `sendAs` is the message's name, the same in every attempt
   * @throws {GatewayError} 400 for a key in use for another request or of a wrong length, 503 when keys cannot be looked
   * up, and what `work` throws
   */
  async answer<Result>(request: KeyedRequest, work: (sendAs: string) => Promise<Result>): Promise<Result> {
    if (request.key.length === 0 || request.key.length > MAX_KEY_LENGTH) {
      throw new GatewayError(400, { details: `Idempotency-Key: must have 1 to ${MAX_KEY_LENGTH} characters` });
    }
    const row = await this.claim(request).catch((error: unknown) => {
      throw new GatewayError(503, { details: 'idempotency keys are not available', retryAfterS: 3 }, { cause: error });
    });
    if (!row.request.equals(digest(request.content))) {
      throw new GatewayError(400, { details: 'Idempotency-Key: in use for another request' });
    }
    if (row.answer) return opened<Result>(row.answer);
    try {
      const result = await work(nameOf(request, row.created_at));
      return opened<Result>(await this.keep(request, { status: 200, result }));
    } catch (error) {
      if (!(error instanceof GatewayError) || !KEPT_REFUSALS.includes(error.status)) throw error;
      return opened<Result>(await this.keep(request, { status: error.status, error: toErrorReply(error) }));
    }
  }

  /** Deletes what is older than 24 h, and what deleted channels have left. */
  async sweep(): Promise<void> {
    const deleted = await OF_DELETED_CHANNELS.all(this.pool);
    if (deleted.length > 0) {
      await FORGET.count(
        this.pool,
        deleted.map(({ id }) => id),
      );
    }
    let swept: number;
    do {
      swept = await SWEEP.count(this.pool);
    } while (swept === SWEEP_BATCH);
  }

  private async claim({ channelId, key, content }: KeyedRequest): Promise<Row> {
    const claimed = await CLAIM.first(this.pool, channelId, hash(key), digest(content));
    if (claimed) return claimed;
    const found = await FIND.first(this.pool, channelId, hash(key));
    if (!found) throw new Error('a key was swept while it was looked up');
    return found;
  }

  /** Stores an answer unless there is one already. @returns the stored answer */
  private async keep({ channelId, key }: KeyedRequest, answer: KeptAnswer): Promise<KeptAnswer> {
    try {
      const kept = await KEEP.first(this.pool, channelId, hash(key), JSON.stringify(answer));
      return kept?.answer ?? answer;
    } catch {
      return answer; // the command was carried out: the caller must get its answer
    }
  }
}

function opened<Result>(answer: KeptAnswer): Result {
  if ('error' in answer) throw fromErrorReply(answer.error);
  return answer.result as Result;
}

/**
 * A key that is used again after its day is over names another message. The name holds the day, not the moment: when the database
 * was restored to a time before the request, its repetition on the same day (UTC) still names the same message.
 */
export function nameOf({ channelId, key }: Omit<KeyedRequest, 'content'>, createdAt: Date): string {
  const day = Math.floor(createdAt.getTime() / DAY_MS);
  return hash([channelId, String(day), key].join('\n')).toString('hex');
}

function digest(content: unknown): Buffer {
  return hash(JSON.stringify(sorted(content)));
}

/** With the fields of objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, entry]) => [name, sorted(entry)]));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
