import type { Redis } from '@dormouse/redis';

/**
 * Takes a job out of its queue only if no worker ever took it: it must stand in the wait list and carry neither the
 * mark of a start (`processedOn`) nor of a stall (`stc`: BullMQ puts a stalled job back into the wait list to bury it).
 * BullMQ's own `remove` will not do: it also reports success for a job that has finished meanwhile.
 *
 * KEYS: wait list, job hash. ARGV: job id. Returns 1 if withdrawn.
 */
const WITHDRAW = `
if redis.call('HEXISTS', KEYS[2], 'processedOn') == 1 or redis.call('HEXISTS', KEYS[2], 'stc') == 1 then return 0 end
if redis.call('LREM', KEYS[1], 1, ARGV[1]) == 0 then return 0 end
redis.call('DEL', KEYS[2])
return 1
`;

/**
 * @returns true when the job is gone and was never started; false when that cannot be promised
 * @throws whatever the connection throws; then nothing is known
 */
export async function withdraw(redis: Redis, toKey: (type: string) => string, jobId: string): Promise<boolean> {
  return (await redis.eval(WITHDRAW, 2, toKey('wait'), toKey(jobId), jobId)) === 1;
}
