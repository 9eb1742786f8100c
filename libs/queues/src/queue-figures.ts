import type { Redis } from '@dormouse/redis';
import type { CommandJob } from './command-job.js';
import { commandLists } from './names.js';

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

/**
 * Looks into the queues of shards without touching them: one round trip, however many there are.
 * @param nowMs epoch milliseconds; callers' clocks are what ages are counted by
 * @throws whatever the connection throws
 */
export async function readQueueFigures(
  redis: Redis,
  shards: readonly number[],
  nowMs: number,
): Promise<QueueFigures[]> {
  const asked = redis.pipeline();
  for (const { waiting, taken } of shards.map(commandLists)) asked.llen(waiting).llen(taken).lindex(waiting, 0);
  const answers = ((await asked.exec()) ?? []).map(([error, answer]) => {
    if (error) throw error;
    return answer;
  });
  return shards.map((shard, index) => {
    const [waiting, running, job] = answers.slice(index * 3) as [number, number, string | null];
    const oldest = job === null ? undefined : (JSON.parse(job) as CommandJob);
    return {
      shard,
      waiting,
      running,
      oldestAgeMs: oldest === undefined ? 0 : Math.max(0, nowMs - oldest.calledAt),
      lateMs: oldest === undefined ? 0 : Math.max(0, nowMs - oldest.startBy),
    };
  });
}
