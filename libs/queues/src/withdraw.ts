import type { Redis } from '@dormouse/redis';

/**
 * Removes a job from its queue only if no worker ever took it: it must be in the wait list and have neither the field of a
 * start (`processedOn`) nor of a stall (`stc`: BullMQ puts a stalled job back into the wait list before it fails it).
 * BullMQ's own `remove` does not fit: it also reports success for a job that has finished meanwhile.
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
 * @returns true when the job was removed and never started; false when that is not certain
 * @throws the error of the connection; the job may then have been removed or not
 */
export async function withdraw(redis: Redis, toKey: (type: string) => string, jobId: string): Promise<boolean> {
  return (await redis.eval(WITHDRAW, 2, toKey('wait'), toKey(jobId), jobId)) === 1;
}
