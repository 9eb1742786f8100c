import { randomInt } from 'node:crypto';
import { closeRedis, openRedis, type Redis } from '@dormouse/redis';
import { Queue } from 'bullmq';
import { CommandClient } from './command-client.js';
import { commandQueueName } from './names.js';

const redisUrl = process.env.TEST_REDIS_URL ?? '';

describe('a call that Redis refuses', () => {
  const shard = randomInt(1_000_000, 2_000_000_000);
  const listKey = `bull:${commandQueueName(shard)}:wait`;
  let redis: Redis;
  let client: CommandClient;

  beforeAll(async () => {
    redis = openRedis({ url: redisUrl, name: 'spec' });
    await redis.set(listKey, 'not a list');
    client = new CommandClient({ redisUrl });
    await client.start();
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await client.close();
    await redis.del(listKey);
    await closeRedis(redis);
  });

  it('ends with 502, and leaves no queue that listens on the shared connection', async () => {
    const opened = jest.spyOn(Queue.prototype, 'add');
    const closed = jest.spyOn(Queue.prototype, 'close');
    for (const requestId of ['r1', 'r2']) {
      const call = client.call({ id: 'CH-1', shard }, 'channel.logout', {}, { requestId });
      await expect(call).rejects.toMatchObject({ status: 502 });
    }
    const queues = new Set(opened.mock.contexts);
    expect(queues.size).toBe(2);
    for (const queue of queues) expect(closed.mock.contexts.includes(queue)).toBe(true);
  });
});
