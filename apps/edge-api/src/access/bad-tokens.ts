/**
 * Limits requests without a valid token: they are counted by address, and answered with 429 beyond the limit. Tokens
 * cannot be guessed anyway; the limit bounds the work: beyond it, a request of that address costs no look-up. A token
 * that was valid recently is still accepted, so that a customer who shares an address with a broken script can work.
 */
import type { GatewayError } from '@dormouse/gateway-contract';
import { addressBlock } from '@dormouse/public-addresses';
import type { Redis } from '@dormouse/redis';
import { LRUCache } from 'lru-cache';
import { RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { limiter, tooMany, type RateLimit } from './rate-limits.js';

/**
 * How long an unknown token is remembered. Short, since it can become known while its owner already uses it: a token that waited for a
 * region that was away is valid within 2 s of the region's return, and this is a part of them.
 */
const MISS_TTL_MS = 500;
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
  readonly #misses: LRUCache<string, true>;
  readonly #good: LRUCache<string, true>;
  /** Addresses beyond their limit, until they may send again. */
  readonly #refused: LRUCache<string, true>;

  constructor({ redis, limit, now = Date.now }: BadTokensOptions) {
    const options = { max: MAX_REMEMBERED, ttlResolution: 0, perf: { now } };
    this.#misses = new LRUCache({ ...options, ttl: MISS_TTL_MS });
    this.#good = new LRUCache({ ...options, ttl: GOOD_TTL_MS });
    this.#refused = new LRUCache({ ...options, ttl: 0 });
    this.#limiter = limit === 'off' ? undefined : limiter(redis, 'bad-tokens', limit);
  }

  /**
   * Before a token is looked up.
   * @returns whether it was looked up a moment ago, and belonged to no channel
   * @throws {GatewayError} 429 for an address beyond its limit, unless the token was valid recently
   */
  isKnownMiss(address: string, token: string): boolean {
    if (this.#good.has(token)) return false;
    const msBeforeNext = this.#refused.getRemainingTTL(addressBlock(address));
    if (msBeforeNext > 0) throw tooMany({ msBeforeNext }, DETAILS);
    return this.#misses.has(token);
  }

  noteGood(token: string): void {
    this.#good.set(token, true);
  }

  noteMiss(token: string): void {
    this.#good.delete(token);
    this.#misses.set(token, true);
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
      // 0 in the last millisecond of a window; to the cache 0 is for ever.
      this.#refused.set(block, true, { ttl: Math.max(1, refused.msBeforeNext) });
      return tooMany(refused, DETAILS);
    }
  }
}
