import pg from 'pg';
import { eventually } from './harness/eventually.js';
import { type LinkedChannel, RunningStack } from './harness/running-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';

interface LeaseRow {
  shard: number;
  owner_id: string | null;
  live: boolean;
}

/** Longer than a busy machine takes to notice that a process is dead. */
const LEASE_TTL_MS = 30_000;

describe('two session workers', () => {
  let running: RunningStack;
  let database: pg.Client;
  let friend: VirtualPhone;
  const channels: LinkedChannel[] = [];

  beforeAll(async () => {
    running = await RunningStack.start({ workers: 2, env: { 'session-worker': { LEASE_TTL_MS: `${LEASE_TTL_MS}` } } });
    database = new pg.Client({ connectionString: running.stack.databases.sg });
    await database.connect();
    friend = await running.network.createPhone();
    for (let index = 0; index < 8; index++) channels.push(await running.createLinkedChannel(`number ${index}`));
  }, 180_000);

  afterAll(async () => {
    await database.end();
    await running.stop();
  }, 60_000);

  const shardsByOwner = async (): Promise<Map<string, number[]>> => {
    const { rows } = await database.query<LeaseRow>(
      'SELECT shard, owner_id, expires_at > now() AS live FROM shard_leases ORDER BY shard',
    );
    const owned = new Map<string, number[]>();
    for (const { shard, owner_id: owner, live } of rows) {
      if (owner !== null && live) owned.set(owner, [...(owned.get(owner) ?? []), shard]);
    }
    return owned;
  };

  /** Resolves when two workers own the shards evenly; starts the one that a journey has ended. */
  const untilTwoShare = async (): Promise<void> => {
    for (let count = running.stack.processes['session-worker'].length; count < 2; count += 1) {
      await running.stack.startWorker();
    }
    await eventually(
      async () => {
        const sizes = [...(await shardsByOwner()).values()].map(({ length }) => length);
        return sizes.length === 2 && sizes.every((size) => size === 4);
      },
      { what: 'four shards each', withinMs: 60_000 },
    );
  };
  const untilOneHasAll = () =>
    eventually(
      async () => {
        const owned = await shardsByOwner();
        return owned.size === 1 && [...owned.values()][0]?.length === 8;
      },
      { what: 'the other worker owns all shards', withinMs: 40_000 },
    );
  beforeEach(untilTwoShare, 90_000);

  const endOne = async (signal: NodeJS.Signals): Promise<void> => {
    const [worker] = running.stack.processes['session-worker'];
    if (worker === undefined) throw new Error('no worker');
    await running.stack.killWorker(worker, signal);
  };

  const everyChannelSends = async (text: string): Promise<void> => {
    const answers = await Promise.all(
      channels.map(({ client }) =>
        eventually(async () => (await client.post('/messages/text', { to: friend.phone, body: text })).status === 200, {
          what: `a send of ${text}`,
          withinMs: 60_000,
        }),
      ),
    );
    expect(answers).toHaveLength(channels.length);
  };

  it('split the shards evenly and serve every channel', async () => {
    await everyChannelSends('both alive');
  }, 120_000);

  it('are notified of changes of channels, and so is the edge', async () => {
    const { rows } = await database.query<{ name: string }>(
      `SELECT application_name AS name FROM pg_stat_activity WHERE application_name LIKE '% channel changes' ORDER BY 1`,
    );
    const [edge, worker] = ['edge-api channel changes', 'session-worker channel changes'];
    expect(rows.map(({ name }) => name)).toEqual([edge, worker, worker]);
  });

  it('serve the numbers of one that was killed before its leases end, without a scan, none of them twice', async () => {
    const { overlaps } = await running.network.connections();
    await endOne('SIGKILL');
    await everyChannelSends('one alive');
    // Whoever is seen to be dead counts as living no longer than until then.
    const endedEarly = `SELECT 1 FROM workers WHERE expires_at < heartbeat_at + $1::float8 * interval '1 ms'`;
    expect((await database.query(endedEarly, [LEASE_TTL_MS])).rowCount).toBe(1);
    await untilOneHasAll();
    expect((await running.network.connections()).overlaps).toBe(overlaps);
  }, 150_000);

  it('give shards back to a worker that joins, and never hold one number twice', async () => {
    await endOne('SIGTERM');
    await untilOneHasAll();
    await untilTwoShare();
    await everyChannelSends('two again');
    expect((await running.network.connections()).overlaps).toBe(0);
  }, 150_000);
});
