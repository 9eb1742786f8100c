export type { Redis } from 'ioredis';
export { EvictingRedisError, requireNoEviction } from './eviction.js';
export { redisKeys } from './keys.js';
export { inOneWrite, openRedis, type RedisLog, type RedisSettings, type WhenAway } from './open-redis.js';
export { closeRedis, subscribeTo, type Subscription } from './subscription.js';
