import { closeRedis, openRedis, type Redis } from '@dormouse/redis';
import { claimTestRedis, type TestStore } from '@dormouse/stack/test-stores';
import { Queue, Worker } from 'bullmq';
import { RepeatedJob } from './background-jobs.js';

const EVERY_MS = 50;
const HOUR_MS = 3_600_000;

describe('a repeated job', () => {
  let store: TestStore;
  let redis: Redis;
  let queue: Queue;
  const open: { close(): Promise<unknown> }[] = [];
  const failures: unknown[] = [];

  beforeEach(async () => {
    store = await claimTestRedis();
    redis = openRedis({ url: store.url, name: 'background-jobs-spec' });
    queue = new Queue('spec', { connection: redis });
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
    await queue.close();
    await closeRedis(redis);
    await store.drop();
    expect(failures).toEqual([]);
  });

  const repeated = (everyMs = EVERY_MS): RepeatedJob => {
    const job = new RepeatedJob(queue, {
      name: 'look',
      everyMs,
      storedAgainMs: 100,
      onError: (error) => failures.push(error),
    });
    job.start();
    open.push({ close: () => job.stop() });
    return job;
  };
  /** Resolves with the names of so many runs. */
  const runs = (count: number): Promise<string[]> =>
    new Promise((resolve) => {
      const names: string[] = [];
      const worker = new Worker(
        'spec',
        (job) => {
          names.push(job.name);
          if (names.length === count) resolve(names);
          return Promise.resolve();
        },
        { connection: redis },
      );
      // A job that runs while Redis is flushed cannot be finished there.
      worker.on('error', () => undefined);
      open.push(worker);
    });

  it('runs in intervals, once for all processes that have it', async () => {
    repeated();
    repeated();
    repeated();
    const startedAt = performance.now();
    expect(await runs(6)).toEqual(Array.from({ length: 6 }, () => 'look'));
    // Six runs take five intervals at least; three schedules would take two.
    expect(performance.now() - startedAt).toBeGreaterThan(3 * EVERY_MS);
    expect(await queue.getJobSchedulersCount()).toBe(1);
  });

  it('runs again after Redis was flushed', async () => {
    repeated();
    await runs(2);
    await redis.flushdb();
    await runs(2);
  });

  it('keeps the time of its next run over a restart, and runs at once when its interval is changed', async () => {
    const nextAtMs = async () => (await queue.getJobScheduler('look'))?.next;
    repeated(HOUR_MS);
    await runs(1);
    await Promise.all(open.splice(0).map((one) => one.close()));
    const before = await nextAtMs();
    expect(before).toBeGreaterThan(Date.now());
    await repeated(HOUR_MS).stop();
    expect(await nextAtMs()).toBe(before);
    repeated(2 * HOUR_MS);
    expect(await runs(1)).toEqual(['look']);
  });

  it('stops and does not fail while Redis is away, and stays away', async () => {
    const away = openRedis({ url: 'redis://127.0.0.1:9', name: 'background-jobs-spec:away' });
    const errors: unknown[] = [];
    const job = new RepeatedJob(
      new Queue('spec', { connection: away }).on('error', () => undefined),
      {
        name: 'look',
        everyMs: EVERY_MS,
        onError: (error) => errors.push(error),
      },
    );
    job.start();
    await job.stop();
    expect(errors).toEqual([]);
    away.disconnect();
  });
});
