/**
 * Passwords: hashed with argon2id, and refused when they are easy to guess.
 *
 * Guarantees: hashes are computed in the thread pool, never on the event loop, {@link CONCURRENT_HASHES} at a time, so that
 * sign-ins take neither all threads nor all memory (19 MiB each); beyond {@link MAX_WAITING} that wait, a request is 503
 * with Retry-After. For every sign-in one hash is computed, for an unknown address too: that is the caller's duty.
 * Needs no store.
 */
import { GatewayError } from '@dormouse/gateway-contract';
import { hash, verify } from '@node-rs/argon2';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import * as common from '@zxcvbn-ts/language-common';
import pLimit from 'p-limit';

/** argon2id is the library's default; what OWASP recommends at least. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Half of the thread pool: files and names are resolved by the other half. */
const CONCURRENT_HASHES = 2;
const MAX_WAITING = 200;
/** Of 4; 3 is "safely unguessable: moderate protection from offline attacks". */
const LOWEST_SCORE = 3;
/** The time of the estimate grows with the square of the length. */
const MAX_ESTIMATED_LENGTH = 72;

export class Passwords {
  readonly #limit = pLimit(CONCURRENT_HASHES);
  #computed = 0;

  /** How many hashes were computed. */
  get computed(): number {
    return this.#computed;
  }

  /** @throws {GatewayError} 503 when too many wait */
  hash(password: string): Promise<string> {
    return this.#compute(() => hash(password, COST));
  }

  /** @throws {GatewayError} 503 when too many wait */
  verify(stored: string, password: string): Promise<boolean> {
    return this.#compute(() => verify(stored, password));
  }

  #compute<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#limit.pendingCount >= MAX_WAITING) {
      throw new GatewayError(503, { message: 'too many sign-ins at once', retryAfterS: 5 });
    }
    this.#computed += 1;
    return this.#limit(work);
  }
}

const estimator = new ZxcvbnFactory({ dictionary: common.dictionary, graphs: common.adjacencyGraphs });

/**
 * Refuses a password that is easy to guess.
 * @param known what others know of its user: address and name
 * @throws {GatewayError} 400 `password: …`
 */
export function requireStrong(password: string, known: readonly string[]): void {
  const { score } = estimator.check(password.slice(0, MAX_ESTIMATED_LENGTH), wordsOf(known));
  if (score >= LOWEST_SCORE) return;
  throw new GatewayError(400, {
    details: 'password: too easy to guess; use a longer one, such as several words that do not belong together',
  });
}

/** Each as a whole, in its parts, and its parts written together. */
function wordsOf(texts: readonly string[]): string[] {
  return texts
    .flatMap((text) => [text, ...text.split(/[\s@]+/), ...text.split(/[\s@.]+/), text.replaceAll(/[\s.]/g, '')])
    .filter((word) => word !== '');
}
