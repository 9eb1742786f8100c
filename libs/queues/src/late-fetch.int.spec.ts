import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { closeRedis, openRedis } from '@dormouse/redis';
import { FaultProxy } from '@dormouse/stack/test-fault-proxy';
import { CommandClient } from './command-client.js';
import type { CommandReply } from './command-job.js';
import { openCommandWorker, type ReceivedCommand } from './command-worker.js';
import { commandQueueName } from './names.js';

const redisUrl = process.env.TEST_REDIS_URL ?? '';
const LAST_FETCH_WITHIN_MS = 1;

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

describe('a worker of commands that has stopped waiting for a slow Redis', () => {
  it('runs nothing that it is given afterwards: the caller gets 503', async () => {
    const shard = randomInt(1_000_000, 2_000_000_000);
    const queueName = commandQueueName(shard);
    const redis = openRedis({ url: redisUrl, name: 'spec' });
    const client = new CommandClient({ redisUrl });
    await client.start();
    const call = (name: 'channel.logout' | 'channel.delete') =>
      client.call({ id: 'C', shard }, name, {}, { requestId: 'r' });
    const active = () => redis.llen(`bull:${queueName}:active`);
    const flagsOfFetches = async () =>
      String(await redis.client('LIST')).match(`name=${queueName}:fetches .* flags=(\\S+)`)?.[1];

    const proxy = await FaultProxy.to(redisUrl);
    const handled: string[] = [];
    const errors: unknown[] = [];
    const worker = openCommandWorker({
      ...{ redisUrl: proxy.url, shard, concurrency: 4, lastFetchWithinMs: LAST_FETCH_WITHIN_MS },
      handle: ({ name }: ReceivedCommand): Promise<CommandReply> => {
        handled.push(name);
        return Promise.resolve({ ok: true, result: { success: true } });
      },
      onError: (error) => errors.push(error),
    });
    expect(await call('channel.logout')).toEqual({ success: true });
    await until(async () => (await active()) === 0 && (await flagsOfFetches()) === 'b'); // it waits for the next
    const held = proxy.holdAnswers();
    const late = call('channel.delete');
    await Promise.all([held, until(async () => (await active()) === 1)]);
    const closed = worker.close();
    await delay(LAST_FETCH_WITHIN_MS); // as long as the worker waits, and begun later
    proxy.restore();
    await expect(late).rejects.toMatchObject({ status: 503, details: 'redeploying: the request was not started' });
    await closed;
    expect([handled, errors]).toEqual([['channel.logout'], []]);

    await client.close();
    await proxy.close();
    await closeRedis(redis);
  });
});
