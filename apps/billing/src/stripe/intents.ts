/**
 * Changes at Stripe, each stored with its idempotency key before it is made.
 *
 * What it guarantees: a change whose answer was lost (a crash, a cut connection) is repeated under the same key with the same
 * parameters, so it is made once. There is one open change of a kind for an account: two clicks make one. Stripe keeps the answer
 * of a key for a day, its own failures (5xx) included: such a change, and one that is older, is closed, and the truth is read
 * before anything is tried again. With PostgreSQL away nothing is changed at Stripe.
 */
import { defineStatement, narrowed, type Queryable, type RowOf } from '@dormouse/database';
import { randomUUID } from 'node:crypto';
import { isKeptFailure, StripeRefusedError } from './stripe-client.js';

/** Parameters of a change, as JSON. */
export type IntentRequest = Readonly<Record<string, string | number | boolean | null>>;

const ROW = {
  id: 'text',
  request: narrowed<IntentRequest>('jsonb'),
  kind: 'text',
  is_stale: 'bool',
} as const;
/** Less than the day for which Stripe keeps answers. */
const STALE = "created_at < now() - interval '20 hours' AS is_stale";

const OPEN = defineStatement({
  name: 'open-stripe-intent',
  scope: 'global',
  text: `INSERT INTO stripe_intents (id, account_id, kind, request) VALUES ($1, $2, $3, $4)
         ON CONFLICT (account_id, kind) WHERE finished_at IS NULL DO NOTHING
         RETURNING id, request, kind, ${STALE}`,
  parameters: ['text', 'text', 'text', 'jsonb'],
  row: ROW,
});

const FIND_OPEN = defineStatement({
  name: 'find-open-stripe-intent',
  scope: 'global',
  text: `SELECT id, request, kind, ${STALE} FROM stripe_intents
         WHERE account_id = $1 AND kind = $2 AND finished_at IS NULL`,
  parameters: ['text', 'text'],
  row: ROW,
});

const LIST_OPEN = defineStatement({
  name: 'list-open-stripe-intents',
  scope: 'global',
  text: `SELECT id, request, kind, ${STALE} FROM stripe_intents
         WHERE account_id = $1 AND finished_at IS NULL ORDER BY created_at`,
  parameters: ['text'],
  row: ROW,
});

const FINISH = defineStatement({
  name: 'finish-stripe-intent',
  scope: 'global',
  text: 'UPDATE stripe_intents SET finished_at = now(), outcome = $2 WHERE id = $1 AND finished_at IS NULL',
  parameters: ['text', 'text'],
});

const DELETE_OLD = defineStatement({
  name: 'delete-old-stripe-intents',
  scope: 'global',
  text: `DELETE FROM stripe_intents WHERE finished_at < now() - interval '90 days'`,
  parameters: [],
});

type IntentRow = RowOf<typeof OPEN>;

/** Makes the call of Stripe; given the parameters that were stored, and the key. */
type Act<T> = (request: IntentRequest, idempotencyKey: string) => Promise<T>;

export class Intents {
  constructor(private readonly on: Queryable) {}

  /**
   * Makes a change, or the one of this kind that is open already, with the parameters of that one.
   * @throws {StripeAwayError} it stays open unless Stripe keeps the failure @throws {StripeRefusedError} it is closed
   */
  async carryOut<T>(accountId: string, kind: string, request: IntentRequest, act: Act<T>): Promise<T> {
    for (;;) {
      const open = await this.#openOne(accountId, kind, request);
      if (open && !open.is_stale) return this.#act(open, act);
      if (open) await FINISH.count(this.on, open.id, 'stale');
    }
  }

  /** Repeats what a crash or a cut connection left open. @param acts the call for each kind; others stay open */
  async resume(accountId: string, acts: Readonly<Record<string, Act<unknown>>>): Promise<void> {
    for (const open of await LIST_OPEN.all(this.on, accountId)) {
      const act = acts[kindOf(open.kind)];
      if (open.is_stale) await FINISH.count(this.on, open.id, 'stale');
      else if (act) await this.#act(open, act).catch(unlessRefused);
    }
  }

  /** Deletes those that ended long ago. */
  async deleteOld(): Promise<number> {
    return DELETE_OLD.count(this.on);
  }

  /** A new one, or the one that is open; undefined when it was finished in between. */
  async #openOne(accountId: string, kind: string, request: IntentRequest): Promise<IntentRow | undefined> {
    const id = `dormouse-${randomUUID()}`;
    const opened = await OPEN.first(this.on, id, accountId, kind, JSON.stringify(request));
    return opened ?? FIND_OPEN.first(this.on, accountId, kind);
  }

  async #act<T>({ id, request }: IntentRow, act: Act<T>): Promise<T> {
    try {
      const result = await act(request, id);
      await FINISH.count(this.on, id, 'done');
      return result;
    } catch (error) {
      if (error instanceof StripeRefusedError) await FINISH.count(this.on, id, 'refused');
      else if (isKeptFailure(error)) await FINISH.count(this.on, id, 'failed');
      throw error;
    }
  }
}

/** `cancel:sub_1` is of the kind `cancel`. */
function kindOf(kind: string): string {
  return kind.split(':', 1)[0] ?? kind;
}

function unlessRefused(error: unknown): void {
  if (!(error instanceof StripeRefusedError)) throw error;
}
