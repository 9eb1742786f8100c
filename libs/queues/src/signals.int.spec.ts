import { randomUUID } from 'node:crypto';
import { closeRedis, openRedis } from '@dormouse/redis';
import { publishEventsReady, publishEventsToPull, subscribeAllEvents, subscribeEventsReady } from './signals.js';

describe('signals', () => {
  it('reach the subscribers of their kind, and no others', async () => {
    const redis = openRedis({ url: process.env.TEST_REDIS_URL ?? '', name: 'spec-signals' });
    const id = randomUUID();
    const received: string[] = [];
    let done: () => void;
    const all = new Promise<void>((resolve) => (done = resolve));
    const note = (listener: string) => (channelId: string) => {
      // Other specs publish signals on the same server.
      if (!channelId.startsWith(id)) return;
      received.push(`${listener} ${channelId.slice(id.length)}`);
      if (received.length === 4) done();
    };
    const subscriptions = [subscribeEventsReady(redis, note('dispatcher')), subscribeAllEvents(redis, note('puller'))];
    await Promise.all(subscriptions.map(({ started }) => started));
    await publishEventsReady(redis, `${id}-events`);
    await publishEventsToPull(redis, [`${id}-one`, `${id}-two`]);
    await all;
    expect(received.sort()).toEqual(['dispatcher -events', 'puller -events', 'puller -one', 'puller -two']);
    await Promise.all(subscriptions.map((subscription) => subscription.close()));
    await closeRedis(redis);
  });
});
