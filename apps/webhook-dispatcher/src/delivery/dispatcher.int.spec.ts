import { publishEventsReady, subscribeEventsReady } from '@dormouse/queues';
import { closeRedis, openRedis } from '@dormouse/redis';
import { FaultProxy } from '@dormouse/stack/test-fault-proxy';
import { claimTestRedis } from '@dormouse/stack/test-stores';
import { freezable, intercepted } from '../testing/intercepted-database.js';
import { eventually } from '../testing/eventually.js';
import { DISPATCHER_NAME, webhook, type RunningDispatcher } from '../testing/test-dispatcher.js';
import { type TestOutbox } from '../testing/test-outbox.js';
import { TestReceiver, type ReceivedCall } from '../testing/test-receiver.js';
import { TestRegion, upTo } from '../testing/test-region.js';

jest.setTimeout(30_000);

/** The numbers each channel's webhook received, in order. */
function byChannel(calls: readonly ReceivedCall[]): Map<string, number[]> {
  const received = new Map<string, number[]>();
  for (const { body, number } of calls) {
    const channelId = String(body['channel_id']);
    received.set(channelId, [...(received.get(channelId) ?? []), number]);
  }
  return received;
}

describe('Dispatcher', () => {
  let region: TestRegion;
  let outbox: TestOutbox;
  let hook: TestReceiver;

  beforeEach(async () => {
    region = await TestRegion.open();
    ({ outbox, hook } = region);
  });
  afterEach(() => region.close());

  it('side by side with another delivers every event once and in sequence', async () => {
    const ids = await region.channels(20);
    const both = [region.start(), region.start()];
    await Promise.all(both.map(({ dispatcher }) => dispatcher.idle())); // neither looks by itself any more
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(ids.map((id) => outbox.write(id, 10)));
      // In the first round each is notified of half the channels, afterwards of all.
      ids.forEach((id, index) => both.forEach((running, at) => (round > 0 || index % 2 === at) && running.signal(id)));
    }
    await hook.received(1_000);
    await region.allAt(ids, 50);
    const received = byChannel(hook.calls);
    expect([...received.values()]).toEqual(ids.map(() => upTo(50)));
    const exposed = await Promise.all(both.map(async ({ registry }) => registry.metrics()));
    exposed.forEach((metrics) => expect(metrics).toMatch(/outcome="taken"\} \d+/));
  });

  it.each([
    ['more', 5, 0],
    ['the last', 3, 2],
  ])(
    'killed between the 2xx of %s and recording it has the event delivered again with the same id, and none lost',
    async (_which, first, later) => {
      const [id = ''] = await region.channels(1);
      const frozen: { until?: Promise<void> } = {};
      let thaw: () => void = () => undefined;
      const settings = { leaseMs: 16_000, runAhead: { mostEvents: 16, withinMs: 5, quickMs: 0 } }; // any answer counts as slow
      const dying = region.start({ settings, wrap: (database) => freezable(database, frozen) });
      hook.behaviour = () => {
        // From the third call on nothing the first dispatcher sends reaches the database: for all others it is dead.
        if (hook.calls.length === 3) frozen.until = new Promise((resolve) => (thaw = resolve));
        return 200;
      };
      await outbox.write(id, first);
      dying.signal(id);
      await hook.received(3);
      expect(await outbox.cursors(id)).toMatchObject([{ position: 2, leased: true }]);
      const next = region.start();
      next.dispatcher.sweepNow();
      await next.dispatcher.idle();
      expect(hook.numbers).toEqual([1, 2, 3]); // the lease is respected while it lasts
      await outbox.passTime(16_000);
      if (later > 0) await outbox.write(id, later);
      next.dispatcher.sweepNow();
      await hook.received(6);
      await region.allAt([id], 5);
      expect(hook.numbers).toEqual([1, 2, 3, 3, 4, 5]);
      const [, , posted, again] = hook.calls;
      expect(again?.headers['webhook-id']).toBe(posted?.headers['webhook-id']);
      // Risen from the dead it finds its lease lost: it moves nothing and posts nothing.
      thaw();
      await dying.dispatcher.idle();
      expect(await outbox.cursors(id)).toMatchObject([{ position: 5, leased: false }]);
      expect(hook.calls).toHaveLength(6);
    },
  );

  it('delivers an event that is announced while the cursor is being given back', async () => {
    const [id = ''] = await region.channels(1);
    let looks = 0;
    let isFirst = true;
    const running: RunningDispatcher = region.start({
      settings: { pollMs: 60_000 }, // nothing but the signal leads to the event
      wrap: (database) =>
        intercepted(database, {
          before: async (query) => {
            if (query !== 'finish-cursor' || !isFirst) return;
            isFirst = false;
            const looked = looks;
            await outbox.write(id);
            running.signal(id);
            // The signal is used up: the search for the cursor found it still leased.
            await eventually(
              () => Promise.resolve(looks),
              (count) => count > looked,
            );
          },
          after: (query) => (looks += query === 'claim-cursors-of' ? 1 : 0),
        }),
    });
    await outbox.write(id);
    running.signal(id);
    await hook.received(2);
    await region.allAt([id], 2);
  });

  it('goes on where it was, without a duplicate, when PostgreSQL drops every connection', async () => {
    const ids = await region.channels(5);
    const running = region.start({ settings: { pollMs: 50, sweepMs: 50 } });
    await Promise.all(ids.map((id) => outbox.write(id, 40)));
    ids.forEach((id) => running.signal(id));
    for (const count of [20, 60, 120]) {
      await hook.received(count);
      await outbox.database.pool.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
        [DISPATCHER_NAME],
      );
    }
    await hook.received(200);
    await region.allAt(ids, 40);
    expect([...byChannel(hook.calls).values()]).toEqual(ids.map(() => upTo(40)));
  });

  it('finds events whose signal was lost at the next sweep', async () => {
    const ids = await region.channels(3);
    region.start({ settings: { pollMs: 50, sweepMs: 200 } });
    await Promise.all(ids.map((id) => outbox.write(id, 2)));
    await hook.received(6);
    await region.allAt(ids, 2);
  });

  it('is woken by Redis, polls while Redis is away, and is woken again when it is back', async () => {
    const store = await claimTestRedis();
    const redis = openRedis({ url: store.url, name: 'dispatcher-spec' });
    const proxy = await FaultProxy.to(store.url);
    const subscriber = openRedis({ url: proxy.url, name: 'dispatcher-spec-subscriber' });
    const isLive = { now: (): boolean => false };
    const [id = ''] = await region.channels(1);
    region.start({
      settings: { pollMs: 100 },
      subscribe: (onEvents) => {
        const signals = subscribeEventsReady(subscriber, onEvents);
        isLive.now = () => signals.isLive();
        return signals;
      },
    });
    const live = (wanted: boolean) =>
      eventually(
        async () => isLive.now(),
        (value) => value === wanted,
      );
    try {
      await live(true);
      await eventually(
        async () => {
          await outbox.write(id);
          await publishEventsReady(redis, id);
          return hook.calls.length;
        },
        (count) => count > 0,
      );
      proxy.refuse();
      await live(false);
      const before = (await outbox.eventIds(id)).length;
      await outbox.write(id, 3);
      await hook.received(before + 3);
      proxy.restore();
      await live(true);
      await outbox.write(id);
      await publishEventsReady(redis, id);
      await hook.received(before + 4);
      await region.allAt([id], before + 4);
      expect(hook.numbers).toEqual(upTo(before + 4));
    } finally {
      await region.stopDispatchers();
      await Promise.all([closeRedis(redis), closeRedis(subscriber)]);
      await proxy.close();
      await store.drop();
    }
  });

  it('gets through more webhooks than it has slots, with half the slots left to those in good standing', async () => {
    const dead = await TestReceiver.open();
    dead.behaviour = () => undefined;
    try {
      const deadIds = await Promise.all(upTo(8).map(() => outbox.channel([webhook({ url: dead.url })])));
      await Promise.all(deadIds.map((id) => outbox.write(id)));
      await outbox.database.pool.query(
        'UPDATE webhook_cursors SET attempts = 1, paused = true, next_attempt_at = now()',
      );
      const ids = await region.channels(30);
      await Promise.all(ids.map((id) => outbox.write(id, 3)));
      region.start({ settings: { maxDeliveries: 4, pollMs: 50, drainMs: 10 } });
      await hook.received(90);
      await region.allAt(ids, 3);
      expect(dead.calls.length).toBe(2);
    } finally {
      await dead.close();
    }
  });

  it('tries a webhook again at once whose pause ends while the dispatcher looks for webhooks to try again', async () => {
    const [id = ''] = await region.channels(1);
    await outbox.write(id);
    await outbox.database.pool.query(
      "UPDATE webhook_cursors SET attempts = 1, paused = true, next_attempt_at = now() + interval '1 s'",
    );
    const isRetryQuery = (name: unknown): boolean => name === 'claim-retries' || name === 'next-retry';
    let queries = 0;
    region.start({
      settings: { pollMs: 60_000 }, // nothing but the end of the pause leads to the event
      wrap: (database) =>
        intercepted(database, {
          before: async (name) => {
            if (!isRetryQuery(name) || (queries += 1) !== 2) return;
            await outbox.database.pool.query('SELECT pg_sleep_until(max(next_attempt_at)) FROM webhook_cursors');
          },
        }),
    });
    await hook.received(1);
    await region.allAt([id], 1);
  });

  it('keeps to the number of posts a host may have under way, and still delivers all', async () => {
    const ids = await region.channels(12);
    let [now, most] = [0, 0];
    hook.behaviour = async () => {
      most = Math.max(most, (now += 1));
      await new Promise((resolve) => setTimeout(resolve, 5));
      now -= 1;
      return 200;
    };
    const running = region.start({ settings: { postsPerHost: 3, hostWaitMs: 50, pollMs: 50 } });
    await Promise.all(ids.map((id) => outbox.write(id, 3)));
    ids.forEach((id) => running.signal(id));
    await hook.received(36);
    await region.allAt(ids, 3);
    expect(most).toBe(3);
    expect([...byChannel(hook.calls).values()]).toEqual(ids.map(() => upTo(3)));
  });

  it('stopped lets a post finish, abandons one that does not, and leaves every cursor free at its place', async () => {
    // Longer than this spec: it is the stop that ends the post.
    const longPosts = { postTimeoutMs: 600_000, leaseMs: 1_200_000 };
    const hanging = await TestReceiver.open();
    hanging.behaviour = () => undefined;
    const [id = ''] = await region.channels(1);
    const hangingId = await outbox.channel([webhook({ url: hanging.url })]);
    let finish: () => void = () => undefined;
    const stopping = new Promise<void>((resolve) => (finish = resolve));
    hook.behaviour = async () => {
      await stopping;
      return 200;
    };
    const running = region.start({ settings: { drainMs: 100, ...longPosts } });
    await Promise.all([outbox.write(id, 2), outbox.write(hangingId, 2)]);
    [id, hangingId].forEach((each) => running.signal(each));
    await Promise.all([hook.received(1), hanging.received(1)]);
    const stopped = running.dispatcher.stop();
    finish();
    await stopped;
    expect(await outbox.cursors(id)).toMatchObject([{ position: 1, attempts: 0, leased: false }]);
    expect(await outbox.cursors(hangingId)).toMatchObject([{ position: 0, attempts: 0, leased: false }]);
    expect([hook.numbers, hanging.numbers]).toEqual([[1], [1]]);
    await hanging.close();
  });
});
