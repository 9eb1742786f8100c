import { claimTestRedis, type TestStore } from '@dormouse/stack/test-stores';
import { closeRedis, openRedis, type Redis } from '@dormouse/redis';
import { CommandClient } from './command-client.js';
import { openCommandWorker } from './command-worker.js';
import { readQueueFigures } from './queue-figures.js';

const EMPTY = { waiting: 0, running: 0, oldestAgeMs: 0, lateMs: 0 };

describe('figures of the command queues', () => {
  let store: TestStore & { url: string };
  let redis: Redis;
  let client: CommandClient;

  beforeAll(async () => {
    store = await claimTestRedis();
    redis = openRedis({ url: store.url, name: 'figures-spec' });
    client = new CommandClient({ redisUrl: store.url });
    await client.start();
  });
  afterAll(async () => {
    await client.close();
    await closeRedis(redis);
    await store.drop();
  });

  const call = (shard: number) =>
    client
      .call({ id: 'C', shard }, 'channel.logout', {}, { requestId: 'r', startWithinMs: 5_000 })
      .catch(() => undefined);
  const until = async (shard: number, wanted: object): Promise<void> => {
    for (;;) {
      const [figures] = await readQueueFigures(redis, [shard], Date.now());
      if (Object.entries(wanted).every(([name, value]) => Reflect.get(figures ?? {}, name) === value)) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  it('are all zero for queues that were never used', async () => {
    expect(await readQueueFigures(redis, [1, 4], Date.now())).toEqual([
      { shard: 1, ...EMPTY },
      { shard: 4, ...EMPTY },
    ]);
    expect(await readQueueFigures(redis, [], Date.now())).toEqual([]);
  });

  it('have the number of waiting commands, the age and lateness of the oldest, and then the number of running ones', async () => {
    const beganMs = Date.now();
    const calls = [call(7)];
    await until(7, { waiting: 1 });
    const addedMs = Date.now();
    calls.push(call(7), call(7));
    await until(7, { waiting: 3, running: 0 });
    const [figures] = await readQueueFigures(redis, [7], addedMs + 60_000);
    expect(figures?.oldestAgeMs).toBeGreaterThanOrEqual(60_000);
    expect(figures?.oldestAgeMs).toBeLessThanOrEqual(60_000 + addedMs - beganMs);
    expect(figures?.lateMs).toBeGreaterThanOrEqual(55_000);
    expect(figures?.lateMs).toBeLessThanOrEqual(55_000 + addedMs - beganMs);
    expect((await readQueueFigures(redis, [7], addedMs))[0]?.lateMs).toBe(0);
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const worker = openCommandWorker({
      redisUrl: store.url,
      shard: 7,
      concurrency: 2,
      handle: async () => {
        await finished;
        return { ok: true, result: { success: true } };
      },
      onError: () => undefined,
    });
    await until(7, { waiting: 1, running: 2 });
    finish();
    await Promise.all(calls);
    await worker.close();
    await until(7, EMPTY);
  });
});
