import { EventEmitter } from 'node:events';
import { FencedError } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import { Boom } from '@hapi/boom';
import { testNetwork } from '../socket/test-network.js';
import type { OpenSession } from '../socket/open-session.js';
import { GroupSync } from './group-sync.js';

const DAY_MS = 24 * 3_600_000;

/** A keeper whose waits end when the spec says so. */
function setup(book: { syncedAtMs?: () => number | undefined; refresh?: () => Promise<void>; stale?: string[] } = {}) {
  const asked: string[] = [];
  const faults: unknown[] = [];
  const rests: { ms: number; end: () => void }[] = [];
  const changed = new EventEmitter();
  const [ev, ws] = [new EventEmitter(), new EventEmitter()];
  const session = {
    network: testNetwork({ ev, ws }),
    reportFault: (error: unknown) => faults.push(error),
  } as unknown as OpenSession;
  let stale = book.stale ?? [];
  let syncedAtMs = book.syncedAtMs?.();
  const clock = { nowMs: 10 * DAY_MS };
  const keeper = new GroupSync({
    book: {
      syncedAtMs: () => Promise.resolve(syncedAtMs),
      refreshAll: () => {
        asked.push('all');
        syncedAtMs = clock.nowMs;
        return Promise.resolve();
      },
      stale: () => Promise.resolve(stale),
      refresh: async (_session, id) => {
        asked.push(id);
        stale = stale.filter((each) => each !== id);
        await book.refresh?.();
        return { id, member: true, members: [], facts: {} as never };
      },
    },
    now: () => clock.nowMs,
    wait: (ms, signal) =>
      new Promise((resolve, reject) => {
        rests.push({ ms, end: resolve });
        signal.addEventListener('abort', () => reject(new Error('woken')), { once: true });
        changed.emit('rest');
      }),
  });
  const attachment = keeper.attach(session);
  const resting = async (count: number) => {
    while (rests.length < count) await new Promise((resolve) => changed.once('rest', resolve));
    return rests[count - 1];
  };
  const open = () => ev.emit('connection.update', { connection: 'open' });
  return { keeper, session, attachment, asked, faults, rests, resting, open, ev, ws, clock };
}

describe('GroupSync', () => {
  it('asks for all groups after a link, then once a day', async () => {
    const { open, asked, resting, clock } = setup();
    open();
    expect((await resting(1))?.ms).toBe(DAY_MS);
    expect(asked).toEqual(['all']);
    clock.nowMs += DAY_MS + 1;
    (await resting(1))?.end();
    await resting(2);
    expect(asked).toEqual(['all', 'all']);
  });

  it('asks nothing after a reconnect while what is stored is young', async () => {
    const { open, asked, resting } = setup({ syncedAtMs: () => 10 * DAY_MS - 1 });
    open();
    await resting(1);
    expect(asked).toEqual([]);
  });

  it('asks about what could not be followed, one after the other with a pause', async () => {
    const { open, asked, resting } = setup({ syncedAtMs: () => 10 * DAY_MS, stale: ['g1', 'g2'] });
    open();
    const pause = await resting(1);
    expect([asked, pause?.ms]).toEqual([['g1'], 2_000]);
    pause?.end();
    expect((await resting(2))?.ms).toBe(DAY_MS);
    expect(asked).toEqual(['g1', 'g2']);
  });

  it('asks at once about a group it is told of, and about all when the network says that they changed', async () => {
    const { keeper, session, open, asked, resting, ws } = setup({ syncedAtMs: () => 10 * DAY_MS });
    open();
    await resting(1);
    keeper.ask(session, 'g3');
    await resting(2);
    ws.emit('CB:ib,,dirty', { tag: 'ib', attrs: {}, content: [{ tag: 'dirty', attrs: { type: 'groups' } }] });
    await resting(3);
    ws.emit('CB:ib,,dirty', { tag: 'ib', attrs: {}, content: [{ tag: 'dirty', attrs: { type: 'account_sync' } }] });
    expect(asked).toEqual(['g3', 'all']);
  });

  it('tries again later when the network refuses, and says nothing of it', async () => {
    const busy = () => Promise.reject(new Boom('rate-overlimit', { data: 429 }));
    const { open, asked, faults, resting } = setup({ syncedAtMs: () => 10 * DAY_MS, stale: ['g1'], refresh: busy });
    open();
    expect((await resting(1))?.ms).toBe(60_000);
    expect([asked, faults]).toEqual([['g1'], []]);
  });

  it('needs no repair of a group that is gone', async () => {
    const gone = () => Promise.reject(new GatewayError(404));
    const { open, faults, resting } = setup({ syncedAtMs: () => 10 * DAY_MS, stale: ['g1'], refresh: gone });
    open();
    expect((await resting(1))?.ms).toBe(DAY_MS);
    expect(faults).toEqual([]);
  });

  it('reports that the shard has a newer owner', async () => {
    const fenced = new FencedError({ shard: 1, epoch: 2n });
    const { open, faults, resting } = setup({
      syncedAtMs: () => 10 * DAY_MS,
      stale: ['g1'],
      refresh: () => Promise.reject(fenced),
    });
    open();
    await resting(1);
    expect(faults).toEqual([fenced]);
  });

  it('asks nothing more once the session ends', async () => {
    const { keeper, session, attachment, open, asked, resting, rests } = setup({ syncedAtMs: () => 10 * DAY_MS });
    open();
    await resting(1);
    await attachment.drained();
    keeper.ask(session, 'g1');
    await new Promise((resolve) => setImmediate(resolve));
    expect([asked, rests.length]).toEqual([[], 1]);
  });
});
