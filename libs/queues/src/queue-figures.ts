import type { Redis } from '@dormouse/redis';
import { QueueKeys } from 'bullmq';
import type { CommandJob } from './command-job.js';
import { commandQueueName } from './names.js';

/** What lies in one shard's queue at a moment. */
export interface QueueFigures {
  shard: number;
  /** Not taken by a worker yet. */
  waiting: number;
  /** Taken and not answered yet. */
  running: number;
  /** How long the oldest of those that wait has waited; 0 when none does. */
  oldestAgeMs: number;
  /** For how long it may no longer be started; 0 when it may be, or when none waits. */
  lateMs: number;
}

const keys = new QueueKeys();

/**
 * Looks into the queues of shards without touching them: two round trips, however many there are.
 * @param nowMs epoch milliseconds; callers' clocks are what ages are counted by
 * @throws whatever the connection throws
 */
export async function readQueueFigures(
  redis: Redis,
  shards: readonly number[],
  nowMs: number,
): Promise<QueueFigures[]> {
  const lists = redis.pipeline();
  for (const shard of shards) {
    const key = (type: string): string => keys.toKey(commandQueueName(shard), type);
    lists.llen(key('wait')).llen(key('active')).lindex(key('wait'), -1);
  }
  const found = await results(lists);
  const ids = shards.map((_, index) => found[index * 3 + 2]);
  const jobs = redis.pipeline();
  shards.forEach((shard, index) =>
    jobs.hmget(keys.toKey(commandQueueName(shard), String(ids[index])), 'timestamp', 'data'),
  );
  const oldest = await results(jobs);
  return shards.map((shard, index) => {
    const [timestamp, data] = oldest[index] as [string | null, string | null];
    const startBy = data === null ? undefined : (JSON.parse(data) as CommandJob).startBy;
    return {
      shard,
      waiting: Number(found[index * 3]),
      running: Number(found[index * 3 + 1]),
      oldestAgeMs: timestamp === null ? 0 : Math.max(0, nowMs - Number(timestamp)),
      lateMs: startBy === undefined ? 0 : Math.max(0, nowMs - startBy),
    };
  });
}

async function results(pipeline: ReturnType<Redis['pipeline']>): Promise<unknown[]> {
  const answers = (await pipeline.exec()) ?? [];
  return answers.map(([error, answer]) => {
    if (error) throw error;
    return answer;
  });
}
