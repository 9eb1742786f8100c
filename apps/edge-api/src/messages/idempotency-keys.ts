/**
 * What customers sent under an `Idempotency-Key`.
 *
 * What it guarantees: within 24 h the same key with the same request gets the first answer that stands: a success, or a
 * refusal of the request itself (400, 403, 404). Whatever may be tried again (429, 502, 503) is not kept, but all tries
 * name the message alike (`sendAs`), so that it arrives once, whatever became of the tries before. The same key with
 * another request is 400. PostgreSQL away: 503 before anything is said. It goes away after that: the caller gets the
 * answer, which is not kept, and a repetition finds the message by its name in the worker.
 */
import { createHash } from 'node:crypto';
import { defineStatement, narrowed, type RegionalDatabase, type RowOfColumns } from '@dormouse/database';
import {
  GatewayError,
  toErrorReply,
  fromErrorReply,
  type ErrorReply,
  type ErrorStatus,
} from '@dormouse/gateway-contract';

const KEPT_FOR = '24 hours';
const KEPT_REFUSALS: readonly ErrorStatus[] = [400, 403, 404];
const MAX_KEY_LENGTH = 255;
const SWEEP_BATCH = 5_000;

/** A request under a key. */
export interface KeyedRequest {
  channelId: string;
  /** The header's value. */
  key: string;
  /** What is asked: equal requests are those with equal JSON. */
  asked: unknown;
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
   * Answers a request: from what is kept, or by doing it.
   * @param work does it; `sendAs` names the message the same way in every try
   * @throws {GatewayError} 400 for a key in use for another request or of a wrong length, 503 when nobody can look, and
   * what `work` throws
   */
  async answer<Result>(request: KeyedRequest, work: (sendAs: string) => Promise<Result>): Promise<Result> {
    if (request.key.length === 0 || request.key.length > MAX_KEY_LENGTH) {
      throw new GatewayError(400, { details: `Idempotency-Key: must have 1 to ${MAX_KEY_LENGTH} characters` });
    }
    const row = await this.claim(request).catch((error: unknown) => {
      throw new GatewayError(503, { details: 'idempotency keys are not available', retryAfterS: 3 }, { cause: error });
    });
    if (!row.request.equals(digest(request.asked))) {
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

  /** Forgets what is older than 24 h. */
  async sweep(): Promise<void> {
    let swept: number;
    do {
      swept = await SWEEP.count(this.pool);
    } while (swept === SWEEP_BATCH);
  }

  private async claim({ channelId, key, asked }: KeyedRequest): Promise<Row> {
    const claimed = await CLAIM.first(this.pool, channelId, hash(key), digest(asked));
    if (claimed) return claimed;
    const found = await FIND.first(this.pool, channelId, hash(key));
    if (!found) throw new Error('a key was swept while it was looked up');
    return found;
  }

  /** Keeps an answer unless one is kept already; returns the one that is. */
  private async keep({ channelId, key }: KeyedRequest, answer: KeptAnswer): Promise<KeptAnswer> {
    try {
      const kept = await KEEP.first(this.pool, channelId, hash(key), JSON.stringify(answer));
      return kept?.answer ?? answer;
    } catch {
      return answer; // it was said: the caller must hear of it
    }
  }
}

function opened<Result>(answer: KeptAnswer): Result {
  if ('error' in answer) throw fromErrorReply(answer.error);
  return answer.result as Result;
}

/** A key that is used again after its day is over names another message. */
function nameOf({ channelId, key }: KeyedRequest, createdAt: Date): string {
  return hash([channelId, String(createdAt.getTime()), key].join('\n')).toString('hex');
}

function digest(asked: unknown): Buffer {
  return hash(JSON.stringify(sorted(asked)));
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
