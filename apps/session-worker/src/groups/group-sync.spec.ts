import { EventEmitter } from 'node:events';
import { FencedError } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import { Boom } from '@hapi/boom';
import { testNetwork } from '../socket/test-network.js';
import type { OpenSession } from '../socket/open-session.js';
import { GroupSync } from './group-sync.js';

const DAY_MS = 24 * 3_600_000;

/** A sync whose waits end when the spec ends them. */
function setup(
  stored: { syncedAtMs?: () => number | undefined; refresh?: () => Promise<void>; stale?: string[] } = {},
) {
  const queries: string[] = [];
  const faults: unknown[] = [];
  const rests: { ms: number; end: () => void }[] = [];
  const changed = new EventEmitter();
  const [ev, ws] = [new EventEmitter(), new EventEmitter()];
  const session = {
    network: testNetwork({ ev, ws }),
    reportFault: (error: unknown) => faults.push(error),
  } as unknown as OpenSession;
  let stale = stored.stale ?? [];
  let syncedAtMs = stored.syncedAtMs?.();
  const clock = { nowMs: 10 * DAY_MS };
  const sync = new GroupSync({
    store: {
      syncedAtMs: () => Promise.resolve(syncedAtMs),
      refreshAll: () => {
        queries.push('all');
        syncedAtMs = clock.nowMs;
        return Promise.resolve();
      },
      stale: () => Promise.resolve(stale),
      refresh: async (_session, id) => {
        queries.push(id);
        stale = stale.filter((each) => each !== id);
        await stored.refresh?.();
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
  const attachment = sync.attach(session);
  const resting = async (count: number) => {
    while (rests.length < count) await new Promise((resolve) => changed.once('rest', resolve));
    return rests[count - 1];
  };
  const open = () => ev.emit('connection.update', { connection: 'open' });
  return { sync, session, attachment, queries, faults, rests, resting, open, ev, ws, clock };
}

describe('GroupSync', () => {
  it('queries all groups after a link, then once a day', async () => {
    const { open, queries, resting, clock } = setup();
    open();
    expect((await resting(1))?.ms).toBe(DAY_MS);
    expect(queries).toEqual(['all']);
    clock.nowMs += DAY_MS + 1;
    (await resting(1))?.end();
    await resting(2);
    expect(queries).toEqual(['all', 'all']);
  });

  it('queries nothing after a reconnect while the stored groups are recent', async () => {
    const { open, queries, resting } = setup({ syncedAtMs: () => 10 * DAY_MS - 1 });
    open();
    await resting(1);
    expect(queries).toEqual([]);
  });

  it('queries groups whose changes could not be applied, one after the other with a pause', async () => {
    const { open, queries, resting } = setup({ syncedAtMs: () => 10 * DAY_MS, stale: ['g1', 'g2'] });
    open();
    const pause = await resting(1);
    expect([queries, pause?.ms]).toEqual([['g1'], 2_000]);
    pause?.end();
    expect((await resting(2))?.ms).toBe(DAY_MS);
    expect(queries).toEqual(['g1', 'g2']);
  });

  it('queries a requested group at once, and all when the network reports that they changed', async () => {
    const { sync, session, open, queries, resting, ws } = setup({ syncedAtMs: () => 10 * DAY_MS });
    open();
    await resting(1);
    sync.queryGroup(session, 'g3');
    await resting(2);
    ws.emit('CB:ib,,dirty', { tag: 'ib', attrs: {}, content: [{ tag: 'dirty', attrs: { type: 'groups' } }] });
    await resting(3);
    ws.emit('CB:ib,,dirty', { tag: 'ib', attrs: {}, content: [{ tag: 'dirty', attrs: { type: 'account_sync' } }] });
    expect(queries).toEqual(['g3', 'all']);
  });

  it('retries later when the network refuses, and reports no fault', async () => {
    const busy = () => Promise.reject(new Boom('rate-overlimit', { data: 429 }));
    const { open, queries, faults, resting } = setup({ syncedAtMs: () => 10 * DAY_MS, stale: ['g1'], refresh: busy });
    open();
    expect((await resting(1))?.ms).toBe(60_000);
    expect([queries, faults]).toEqual([['g1'], []]);
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

  it('queries nothing more once the session ends', async () => {
    const { sync, session, attachment, open, queries, resting, rests } = setup({ syncedAtMs: () => 10 * DAY_MS });
    open();
    await resting(1);
    await attachment.drained();
    sync.queryGroup(session, 'g1');
    await new Promise((resolve) => setImmediate(resolve));
    expect([queries, rests.length]).toEqual([[], 1]);
  });
});
