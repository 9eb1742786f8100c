/**
 * How many requests a channel may make, counted per channel in the region's Redis, so that all edges of the region
 * count together.
 *
 * Windows are fixed: a limit of 20 per 20 s lets 20 through at once and 60 a minute in the long run. While Redis is
 * unreachable each edge counts by itself in memory with the same numbers: a channel may then get as many times its limit
 * as there are edges, and counts start again; no request is rejected, or accepted without limit, because Redis is away.
 */
import { GatewayError } from '@dormouse/gateway-contract';
import { redisKeys, type Redis } from '@dormouse/redis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';

/** What a request counts against. */
export type RateClass = 'sends' | 'messageActs' | 'contactChecks' | 'groupWrites' | 'health' | 'other';

/** At most `points` within `windowS` seconds; or no limit. */
export type RateLimit = { points: number; windowS: number } | 'off';

export const DEFAULT_RATE_LIMITS: Record<RateClass, RateLimit> = {
  /** 60 a minute, 20 at once; forwards and edits are sends. */
  sends: { points: 20, windowS: 20 },
  /** Reactions and deletions, which others see as well. */
  messageActs: { points: 120, windowS: 60 },
  /** Numbers, not requests. */
  contactChecks: { points: 600, windowS: 60 },
  groupWrites: { points: 30, windowS: 60 },
  health: { points: 120, windowS: 60 },
  other: { points: 600, windowS: 60 },
};

/** Limit of requests of one address without a valid token. */
export const DEFAULT_BAD_TOKEN_LIMIT: RateLimit = { points: 100, windowS: 60 };

/** Reads `<points>/<seconds>` or `off`; undefined when it is neither. */
export function readRateLimit(text: string): RateLimit | undefined {
  if (text === 'off') return 'off';
  const [, points, windowS] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(text) ?? [];
  return points === undefined || windowS === undefined
    ? undefined
    : { points: Number(points), windowS: Number(windowS) };
}

export class RateLimits {
  readonly #limiters: ReadonlyMap<RateClass, RateLimiterAbstract>;

  /** @param redis a connection that fails at once while Redis is away */
  constructor({ redis, limits }: { redis: Redis; limits: Record<RateClass, RateLimit> }) {
    this.#limiters = new Map(
      Object.entries(limits).flatMap(([name, limit]): [RateClass, RateLimiterAbstract][] =>
        limit === 'off' ? [] : [[name as RateClass, limiter(redis, name, limit)]],
      ),
    );
  }

  /**
   * Counts a request of the channel.
   * @param points how much the request counts. At most the whole window less the request itself is taken, so that a
   * full list of numbers is always possible.
   * @throws {GatewayError} 429 with the seconds until the window ends
   */
  async take(rateClass: RateClass, channelId: string, points = 1): Promise<void> {
    const limiter = this.#limiters.get(rateClass);
    if (!limiter || points <= 0) return;
    try {
      await limiter.consume(channelId, Math.min(points, Math.max(1, limiter.points - 1)));
    } catch (refusal) {
      if (!isRefusal(refusal)) throw refusal;
      throw tooMany(refusal);
    }
  }
}

/** A counter that goes on in memory while Redis is away. */
export function limiter(
  redis: Redis,
  name: string,
  { points, windowS }: Exclude<RateLimit, 'off'>,
): RateLimiterAbstract {
  const keyPrefix = redisKeys.rateLimit(name);
  return new RateLimiterRedis({
    storeClient: redis,
    keyPrefix,
    points,
    duration: windowS,
    rejectIfRedisNotReady: true,
    insuranceLimiter: new RateLimiterMemory({ keyPrefix, points, duration: windowS }),
  });
}

/** 429 with the seconds until the window ends. */
export function tooMany({ msBeforeNext }: Pick<RateLimiterRes, 'msBeforeNext'>, details?: string): GatewayError {
  const retryAfterS = Math.max(1, Math.ceil(msBeforeNext / 1_000));
  return new GatewayError(429, { retryAfterS, ...(details !== undefined && { details }) });
}

/** A refusal is a result, not an Error. */
function isRefusal(thrown: unknown): thrown is RateLimiterRes {
  return thrown instanceof RateLimiterRes;
}
