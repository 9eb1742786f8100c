import { randomUUID } from 'node:crypto';
import { closeRedis, openRedis } from '@dormouse/redis';
import {
  publishChannelChanged,
  publishEventsReady,
  publishEventsToPull,
  subscribeAllEvents,
  subscribeChannelChanged,
  subscribeEventsReady,
} from './signals.js';

describe('signals', () => {
  it('reach everybody who listens for their kind, and nobody else', async () => {
    const redis = openRedis({ url: process.env.TEST_REDIS_URL ?? '', name: 'spec-signals' });
    const id = randomUUID();
    const heard: string[] = [];
    let done: () => void;
    const all = new Promise<void>((resolve) => (done = resolve));
    const note = (listener: string) => (channelId: string) => {
      // Signals of other specs come by on the same server.
      if (!channelId.startsWith(id)) return;
      heard.push(`${listener} ${channelId.slice(id.length)}`);
      if (heard.length === 6) done();
    };
    const subscriptions = [
      subscribeEventsReady(redis, note('dispatcher')),
      subscribeChannelChanged(redis, note('dispatcher')),
      subscribeChannelChanged(redis, note('worker')),
      subscribeAllEvents(redis, note('puller')),
    ];
    await Promise.all(subscriptions.map(({ started }) => started));
    await publishEventsReady(redis, `${id}-events`);
    await publishChannelChanged(redis, `${id}-changed`);
    await publishEventsToPull(redis, [`${id}-one`, `${id}-two`]);
    await all;
    expect(heard.sort()).toEqual([
      'dispatcher -changed',
      'dispatcher -events',
      'puller -events',
      'puller -one',
      'puller -two',
      'worker -changed',
    ]);
    await Promise.all(subscriptions.map((subscription) => subscription.close()));
    await closeRedis(redis);
  });
});
