import { setImmediate as turn } from 'node:timers/promises';
import type { Fence } from '@dormouse/database';
import type { ShardLeases } from '@dormouse/database/shards';
import { ShardOwner } from './shard-owner.js';

const SHARDS = [0, 1, 2, 3];

/** A worker that owns every shard, and whose work for a shard ends on command. */
function setup() {
  const free: Fence[] = SHARDS.map((shard) => ({ shard, epoch: 1n }));
  const released: number[] = [];
  const finishing = new Map<number, () => void>();
  const abandoned: number[] = [];
  const fleet = { workerIds: ['this'] };
  const leases = {
    workerId: 'this',
    ttlMs: 60_000,
    renew: (held: Fence[]) => Promise.resolve(held),
    heartbeat: () => Promise.resolve(),
    claim: () => Promise.resolve(free.splice(0)),
    release: ({ shard }: Fence) => Promise.resolve(void released.push(shard)),
    fleet: () => Promise.resolve({ ...fleet, placed: new Map(), spreadCount: SHARDS.length }),
    deregister: () => Promise.resolve(),
  };
  const owner = new ShardOwner({
    leases: leases as unknown as ShardLeases,
    renewEveryMs: 1,
    marginMs: 0,
    finishWithinMs: 60_000,
    log: { info: () => undefined, warn: () => undefined },
    startWork: ({ fence: { shard } }) => ({
      finish: () => new Promise<void>((resolve) => finishing.set(shard, resolve)),
      abandon: () => abandoned.push(shard),
    }),
  });
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await turn();
  };
  return { owner, fleet, finishing, released, abandoned, until };
}

describe('ShardOwner that drains', () => {
  it('ends the work of all shards in parallel, also while it hands one off', async () => {
    const { owner, fleet, finishing, released, abandoned, until } = setup();
    owner.start();
    await until(() => owner.shards.length === SHARDS.length);
    fleet.workerIds = ['other', 'this'];
    await until(() => finishing.size === 1);
    const drained = owner.drain();
    await until(() => finishing.size === SHARDS.length);
    expect(released).toEqual([]);
    for (const finish of finishing.values()) finish();
    await drained;
    expect(released.toSorted()).toEqual(SHARDS);
    expect([owner.shards, abandoned]).toEqual([[], []]);
  });
});
