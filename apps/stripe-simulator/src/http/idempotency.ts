import { createHash } from 'node:crypto';
import type { FormNode } from '../wire/form.js';
import type { KeptAnswer } from '../objects/records.js';
import { StripeFault } from '../wire/stripe-fault.js';
import type { World } from '../world/world.js';

const KEPT_SECONDS = 86_400;
const MAX_KEY_LENGTH = 255;

/** A request that came with a key. */
export interface KeyedRequest {
  key: string;
  /** Method and path. */
  request: string;
  parameters: FormNode;
}

/** The answers that were given under idempotency keys: the same request gets the same answer for a day, and is done once. */
export class Idempotency {
  private readonly underWay = new Set<string>();

  /** Answers that no key stands for any more are dropped at a start. */
  constructor(private readonly world: World) {
    const old = world.store.keptAnswers.filter(({ id }) => this.kept(id) === undefined);
    world.store.transact(() => {
      for (const { id } of old) world.store.keptAnswers.remove(id);
    });
  }

  /**
   * The answer that was given to this request before; undefined when it is new, and then it counts as under way until
   * `finish`. Throws when the key stands for another request (400) or for one that is under way (409).
   */
  begin({ key, request, parameters }: KeyedRequest): KeptAnswer | undefined {
    if (key.length > MAX_KEY_LENGTH)
      throw new StripeFault(
        400,
        'invalid_request_error',
        `Idempotency keys can have up to ${MAX_KEY_LENGTH} characters.`,
      );
    const kept = this.kept(key);
    if (kept && kept.request !== request)
      throw new StripeFault(
        400,
        'idempotency_error',
        `Keys for idempotent requests can only be used for the same endpoint they were first used for ('${request}' vs '${kept.request}'). Try using a key other than '${key}' if you meant to execute a different request.`,
      );
    if (kept && kept.fingerprint !== fingerprint(parameters))
      throw new StripeFault(
        400,
        'idempotency_error',
        `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      );
    if (kept) return kept;
    if (this.underWay.has(key))
      throw new StripeFault(
        409,
        'invalid_request_error',
        `There is currently another in-progress request using this Idempotency Key (that probably means you submitted twice, and the other request is still going through): ${key}. Please try again later.`,
        { code: 'idempotency_key_in_use' },
      );
    this.underWay.add(key);
    return undefined;
  }

  /** Keeps the answer, inside the transaction of what it tells. */
  keep({ key, request, parameters }: KeyedRequest, requestId: string, status: number, body: string): void {
    const created = this.world.now(null);
    this.world.store.keptAnswers.put({
      ...{
        id: key,
        object: 'kept_answer',
        created,
        request,
        requestId,
        fingerprint: fingerprint(parameters),
        status,
        body,
      },
    });
  }

  finish(key: string): void {
    this.underWay.delete(key);
  }

  private kept(key: string): KeptAnswer | undefined {
    const kept = this.world.store.keptAnswers.get(key);
    return kept && kept.created + KEPT_SECONDS > this.world.now(null) ? kept : undefined;
  }
}

/** The same for the same parameters in any order. */
function fingerprint(parameters: FormNode): string {
  return createHash('sha256')
    .update(JSON.stringify(inOrder(parameters)))
    .digest('base64url');
}

function inOrder(value: FormNode[string]): unknown {
  if (typeof value === 'string') return value;
  const names = Object.keys(value).sort();
  return names.map((name) => [name, inOrder(value[name] ?? '')]);
}
