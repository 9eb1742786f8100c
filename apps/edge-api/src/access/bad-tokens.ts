/**
 * Limits requests without a valid token: they are counted by address, and answered with 429 beyond the limit. Tokens
 * cannot be guessed anyway; the limit bounds the work: beyond it, a request of that address costs no look-up. A token
 * that was valid recently is still accepted, so that a customer who shares an address with a broken script can work.
 */
import type { GatewayError } from '@dormouse/gateway-contract';
import { addressBlock } from '@dormouse/public-addresses';
import type { Redis } from '@dormouse/redis';
import { RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { limiter, tooMany, type RateLimit } from './rate-limits.js';
import { Recently } from './recently.js';

/** How long an unknown token is remembered. Short, since it can become known: channels are created, tokens rotated. */
const MISS_TTL_MS = 2_000;
const GOOD_TTL_MS = 600_000;
const MAX_REMEMBERED = 20_000;
const DETAILS = 'too many requests of this address without a valid token';

export interface BadTokensOptions {
  redis: Redis;
  limit: RateLimit;
  /** Clock in epoch milliseconds. */
  now?: () => number;
}

export class BadTokens {
  readonly #limiter: RateLimiterAbstract | undefined;
  readonly #misses: Recently;
  readonly #good: Recently;
  readonly #refused: Recently;

  constructor({ redis, limit, now = Date.now }: BadTokensOptions) {
    const remembering = (forMs: number) => new Recently({ forMs, maxEntries: MAX_REMEMBERED, now });
    this.#misses = remembering(MISS_TTL_MS);
    this.#good = remembering(GOOD_TTL_MS);
    this.#refused = remembering(0);
    this.#limiter = limit === 'off' ? undefined : limiter(redis, 'bad-tokens', limit);
  }

  /**
   * Before a token is looked up.
   * @returns whether it was looked up a moment ago, and belonged to no channel
   * @throws {GatewayError} 429 for an address beyond its limit, unless the token was valid recently
   */
  isKnownMiss(address: string, token: string): boolean {
    if (this.#good.leftMs(token) > 0) return false;
    const msBeforeNext = this.#refused.leftMs(addressBlock(address));
    if (msBeforeNext > 0) throw tooMany({ msBeforeNext }, DETAILS);
    return this.#misses.leftMs(token) > 0;
  }

  noteGood(token: string): void {
    this.#good.note(token);
  }

  noteMiss(token: string): void {
    this.#good.forget(token);
    this.#misses.note(token);
  }

  /**
   * Counts a request that was refused for its token.
   * @returns the refusal, or 429 in its place when there were too many
   */
  async count(address: string, refusal: GatewayError): Promise<GatewayError> {
    // A request without any token costs nothing, and its answer has nothing to explain.
    if (!this.#limiter || refusal.details === undefined) return refusal;
    const block = addressBlock(address);
    try {
      await this.#limiter.consume(block);
      return refusal;
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      this.#refused.note(block, refused.msBeforeNext);
      return tooMany(refused, DETAILS);
    }
  }
}
