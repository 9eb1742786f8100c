import type { Redis } from '@dormouse/redis';
import { QueueKeys } from 'bullmq';
import type { CommandJob } from './command-job.js';
import { commandQueueName } from './names.js';

/** Figures of the command queue of one shard. */
export interface QueueFigures {
  shard: number;
  /** Number of commands that wait for a worker. */
  waiting: number;
  /** Number of commands that a worker took and has not finished. */
  running: number;
  /** Age of the oldest waiting command; 0 when none waits. */
  oldestAgeMs: number;
  /** Time since the oldest waiting command passed its `startBy`; 0 before that, or when none waits. */
  lateMs: number;
}

const keys = new QueueKeys();

/**
 * Reads the figures of the queues of shards; two round trips for any number of them. Changes nothing.
 * @param nowMs epoch milliseconds; ages are relative to the clocks of callers
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
