import { EventEmitter, once } from 'node:events';
import { FaultProxy } from '@dormouse/stack/test-fault-proxy';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { RegionOutbox } from './region-outbox.js';

/** Longer than any spec: what arrives was not found by a look at the interval. */
const NEVER_MS = 600_000;

describe('what waits for a region', () => {
  let store: TestStore;
  let proxy: FaultProxy;
  let outbox: RegionOutbox;
  let events: EventEmitter;
  let logged: string[];
  let waiting: number[];
  let arrived: number[][];
  let beforeDelivery: () => void;

  beforeEach(async () => {
    store = await createTestDatabase('regional');
    events = new EventEmitter();
    proxy = await FaultProxy.to(store.url, () => (events.emit('connection'), {}));
    [logged, waiting, arrived, beforeDelivery] = [[], [], [], () => undefined];
    outbox = outboxOf(100);
  });
  afterEach(async () => {
    await outbox.stop();
    await proxy.close();
    await store.drop();
  });

  const outboxOf = (everyMs: number): RegionOutbox => {
    const noted = (_details: object, message: string): void => {
      logged.push(message);
      events.emit('logged');
    };
    return new RegionOutbox({
      ...{ region: 'eu', databaseUrl: proxy.url, applicationName: 'outbox-spec', what: 'numbers' },
      hasWaiting: () => Promise.resolve(waiting.length > 0),
      deliver: async ({ pool }) => {
        beforeDelivery();
        await pool.query('SELECT 1');
        arrived.push(waiting);
        waiting = [];
        events.emit('arrived');
      },
      log: { info: noted, warn: noted },
      everyMs,
    });
  };

  it('arrives within the interval', async () => {
    outbox.start();
    waiting = [1];
    await once(events, 'arrived');
    waiting = [2];
    await once(events, 'arrived');
    expect([arrived, logged]).toEqual([[[1], [2]], []]);
  });

  it('arrives at once when it is kicked', async () => {
    outbox = outboxOf(NEVER_MS);
    waiting = [1];
    outbox.start();
    await once(events, 'arrived');
    waiting = [2];
    outbox.kick();
    await once(events, 'arrived');
    expect([arrived, logged]).toEqual([[[1], [2]], []]);
  });

  it.each<[string, () => void, string, () => void]>([
    ['refused connections', () => proxy.refuse(), 'logged', () => proxy.restore()],
    ['was silent', () => proxy.hold(), 'connection', () => proxy.restore()],
    [
      'was silent, and never answers what was sent meanwhile',
      () => proxy.hold(),
      'connection',
      () => {
        proxy.silence();
        proxy.restore();
      },
    ],
  ])(
    'arrives at the return of a region that %s, as it is then, without another look',
    async (_how, take, noticed, giveBack) => {
      outbox = outboxOf(NEVER_MS);
      take();
      waiting = [1];
      outbox.start();
      await once(events, noticed);
      waiting = [2];
      giveBack();
      await once(events, 'arrived');
      expect(arrived).toEqual([[2]]);
    },
  );

  it('is repeated when its delivery fails in the middle; an outage is logged once when it begins, and once when it ends', async () => {
    beforeDelivery = () => {
      if (logged.length === 0) proxy.refuse();
    };
    events.once('logged', () => proxy.restore());
    outbox.start();
    waiting = [1];
    for (let lines = 0; lines < 2; lines += 1) await once(events, 'logged');
    expect(arrived).toEqual([[1]]);
    expect(logged).toEqual([
      'what waits for a region was not written: numbers; it is repeated',
      'what waited for a region is written: numbers',
    ]);
  });

  it('is not waited for by a stop while the region is away', async () => {
    proxy.hold();
    outbox.start();
    waiting = [1];
    await once(events, 'connection');
    await outbox.stop();
    expect(arrived).toEqual([]);
  });
});
