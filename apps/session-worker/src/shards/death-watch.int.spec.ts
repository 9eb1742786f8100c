/** Processes that are killed, with a database whose leases are too long to end meanwhile. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { ShardLeases } from '@dormouse/database/shards';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import type { DeathWatchOrder } from './death-watch.js';

const built = (file: string): string => fileURLToPath(new URL(`../../dist/shards/${file}`, import.meta.url));
const PROGRAM = built('death-watch-program.js');
const TTL_MS = 60_000;
const POD = '5f0b3c1e-9d5c-4e9a-8f4e-0a6d6b1f2c3d';

describe('the shards of a worker that died', () => {
  let store: TestStore;
  let database: RegionalDatabase;

  const leasesOf = (workerId: string, podUid?: string): ShardLeases =>
    new ShardLeases({ database, workerId, ttlMs: TTL_MS, podUid });
  const claim = async (leases: ShardLeases, limit: number): Promise<number[]> => {
    await leases.heartbeat(false);
    return (await leases.claim({ limit })).map(({ shard }) => shard).toSorted((a, b) => a - b);
  };
  const free = async (): Promise<number[]> => {
    const { rows } = await database.pool.query<{ shard: number }>(
      'SELECT shard FROM shard_leases WHERE owner_id IS NULL ORDER BY shard',
    );
    return rows.map(({ shard }) => shard);
  };

  /** A process that does what a worker does: starts its death watch, ends it if that is wanted, and then stays or exits. */
  const startWatched = async (workerId: string, then: string): Promise<ChildProcessByStdio<null, Readable, null>> => {
    const options = { workerId, databaseUrl: store.url, leaseTtlMs: TTL_MS, program: PROGRAM };
    const script = `
      import { DeathWatch } from ${JSON.stringify(built('death-watch.js'))};
      const watch = new DeathWatch({ ...${JSON.stringify(options)}, log: { warn: () => undefined } });
      watch.start();
      console.log('watched');
      ${then}`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(createInterface(child.stdout), 'line');
    return child;
  };

  beforeAll(async () => {
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({ url: store.url, applicationName: 'death-watch-spec' });
    await leasesOf('setup').ensureShards(8);
  }, 30_000);

  beforeEach(() => database.pool.query('UPDATE shard_leases SET owner_id = NULL, expires_at = NULL'));

  afterAll(async () => {
    await database.close();
    await store.drop();
  });

  it('are free at once after SIGKILL, also of a worker that has only just started; those of others stay', async () => {
    const [dead, living] = [leasesOf('dead'), leasesOf('living')];
    await claim(dead, 5);
    const kept = await claim(living, 3);
    const child = await startWatched('dead', 'setInterval(() => undefined, 1_000);');
    child.kill('SIGKILL');
    while ((await free()).length < 5) await delay(20);
    expect((await living.fleet()).workerIds).toEqual(['living']);
    expect((await free()).filter((shard) => kept.includes(shard))).toEqual([]);
    await once(child.stdout, 'close'); // the process beside it has ended, too
  }, 30_000);

  it('stay its own while it lives, though the pipe to the process beside it is closed', async () => {
    await claim(leasesOf('lives'), 8);
    const watch = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'ignore', 'inherit'] });
    const order: DeathWatchOrder = {
      workerId: 'lives',
      workerPid: process.pid,
      databaseUrl: store.url,
      leaseTtlMs: 200,
    };
    watch.stdin.end(`${JSON.stringify(order)}\n`);
    await once(watch, 'exit');
    expect(await free()).toEqual([]);
  }, 30_000);

  it('are not touched when it ended in order', async () => {
    await claim(leasesOf('in order'), 8);
    const child = await startWatched('in order', 'watch.end();');
    await once(child.stdout, 'close'); // after the last process that writes to it
    expect(child.exitCode).toBe(0);
    expect(await free()).toEqual([]);
  }, 30_000);

  it('are free for its successor in the same pod, and those of other pods stay', async () => {
    const earlier = await claim(leasesOf('earlier', POD), 3);
    await claim(leasesOf('elsewhere', POD.replace('5', '6')), 2);
    await claim(leasesOf('in no pod'), 3);
    expect(await leasesOf('outside').freeThoseOfEarlierWorkers()).toEqual([]);
    const successor = leasesOf('successor', POD);
    await successor.heartbeat(false);
    expect(await successor.freeThoseOfEarlierWorkers()).toEqual(earlier);
    expect(await free()).toEqual(earlier);
    const { workerIds } = await successor.fleet();
    expect(workerIds).not.toContain('earlier');
    expect(workerIds).toEqual(expect.arrayContaining(['elsewhere', 'in no pod', 'successor']));
  });
});
