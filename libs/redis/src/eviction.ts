/**
 * Queues and what is under way are kept in Redis: a server that evicts keys when its memory is full loses commands without
 * a trace. So a process does not start with one. While Redis is away nothing is known: the process starts, and what is
 * found at each later connection is logged, as ending a process that serves would be worse.
 */
import pTimeout from 'p-timeout';
import type { Redis } from 'ioredis';
import type { RedisLog } from './open-redis.js';

const ANSWER_WITHIN_MS = 3_000;
const SAFE_POLICY = 'noeviction';

export class EvictingRedisError extends Error {
  constructor(name: string, policy: string) {
    super(
      `the Redis of ${name} evicts keys when its memory is full (maxmemory-policy ${policy}), and queued commands would ` +
        `be lost: set its maxmemory-policy to ${SAFE_POLICY}`,
    );
    this.name = 'EvictingRedisError';
  }
}

/**
 * Checks the server once now, and again with every new connection. Resolves without a result while Redis is away.
 * @param name what the connection is for, as in the log
 * @throws {EvictingRedisError}
 */
export async function requireNoEviction(redis: Redis, name: string, log: Pick<RedisLog, 'warn'>): Promise<void> {
  const policy = await pTimeout(firstPolicy(redis), { milliseconds: ANSWER_WITHIN_MS, fallback: () => undefined });
  if (policy !== undefined && policy !== SAFE_POLICY) throw new EvictingRedisError(name, policy);
  redis.on('ready', () => {
    void policyOf(redis).then((found) => {
      if (found === undefined || found === SAFE_POLICY) return;
      log.warn({ redis: name, reason: new EvictingRedisError(name, found).message }, 'redis evicts keys');
    });
  });
}

/** The policy once the connection is there; undefined if the first attempt to connect fails. */
async function firstPolicy(redis: Redis): Promise<string | undefined> {
  if (redis.status === 'ready') return policyOf(redis);
  const connected = await new Promise<boolean>((resolve) => {
    redis.once('ready', () => resolve(true));
    redis.once('error', () => resolve(false));
  });
  return connected ? policyOf(redis) : undefined;
}

/** From INFO, which managed servers answer as well; undefined when it does not tell. */
async function policyOf(redis: Redis): Promise<string | undefined> {
  const memory = await redis.info('memory').catch(() => '');
  return /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
}
