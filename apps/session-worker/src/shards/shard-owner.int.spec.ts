import {
  fencedTransaction,
  FencedError,
  openRegionalDatabase,
  type Fence,
  type RegionalDatabase,
} from '@dormouse/database';
import { EventEmitter, once } from 'node:events';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { ShardLeases } from '@dormouse/database/shards';
import { ShardOwner, type HeldShard } from './shard-owner.js';

jest.setTimeout(30_000);

const SHARDS = 8;
const TTL_MS = 900;

/** A worker whose work is only noted, with a wire to the database that can be cut. */
class TestWorker {
  readonly changes = new EventEmitter();
  readonly working = new Map<number, HeldShard>();
  readonly ended: { shard: number; how: 'finished' | 'abandoned'; held: boolean }[] = [];
  readonly owner: ShardOwner;
  cut = false;
  /** What happens in place of the next call of a statement. */
  readonly instead = new Map<keyof ShardLeases, (call: () => unknown) => unknown>();
  finishing: Promise<void> = Promise.resolve();

  constructor(
    readonly id: string,
    database: RegionalDatabase,
    everyone: Map<number, string>,
    doubles: string[],
  ) {
    const leases = new ShardLeases({ database, workerId: id, ttlMs: TTL_MS });
    const wire = new Proxy(leases, {
      get: (target, name: keyof ShardLeases) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          const call = (): unknown => Reflect.apply(member, target, args);
          const instead = this.instead.get(name);
          this.instead.delete(name);
          if (instead) return instead(call);
          return this.cut ? Promise.reject(new Error('wire cut')) : call();
        };
      },
    });
    this.owner = new ShardOwner({
      leases: wire,
      renewEveryMs: 60,
      marginMs: 200,
      finishWithinMs: 5_000,
      log: { info: () => undefined, warn: () => undefined },
      startWork: (held) => this.startWork(held, everyone, doubles),
    });
  }

  private startWork(held: HeldShard, everyone: Map<number, string>, doubles: string[]) {
    const { shard } = held.fence;
    const holder = everyone.get(shard);
    if (holder !== undefined) doubles.push(`${shard}: ${holder} and ${this.id}`);
    everyone.set(shard, this.id);
    this.working.set(shard, held);
    this.changes.emit('change');
    const end = (how: 'finished' | 'abandoned'): void => {
      if (this.working.get(shard) !== held) return;
      this.working.delete(shard);
      this.ended.push({ shard, how, held: held.isHeld() });
      if (everyone.get(shard) === this.id) everyone.delete(shard);
      this.changes.emit('change');
    };
    return {
      finish: async () => {
        await this.finishing;
        end('finished');
      },
      abandon: () => end('abandoned'),
    };
  }

  async until(condition: (working: Map<number, HeldShard>) => boolean): Promise<void> {
    while (!condition(this.working)) await once(this.changes, 'change');
  }

  count(count: number): Promise<void> {
    return this.until((working) => working.size === count);
  }
}

describe('ShardOwner', () => {
  let store: TestStore;
  let database: RegionalDatabase;
  const everyone = new Map<number, string>();
  const doubles: string[] = [];
  const workers: TestWorker[] = [];

  const start = (id: string): TestWorker => {
    const worker = new TestWorker(id, database, everyone, doubles);
    workers.push(worker);
    worker.owner.start();
    return worker;
  };

  beforeEach(async () => {
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({ url: store.url, applicationName: 'shard-owner-spec' });
    await new ShardLeases({ database, workerId: 'setup', ttlMs: TTL_MS }).ensureShards(SHARDS);
  });

  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.owner.drain()));
    await database.close();
    await store.drop();
    expect(doubles.splice(0)).toEqual([]);
    everyone.clear();
  });

  it('goes by the shards that are in the table: the first start makes them, a later one’s number changes nothing', async () => {
    const leases = new ShardLeases({ database, workerId: 'late', ttlMs: TTL_MS });
    expect(await leases.ensureShards()).toBe(SHARDS);
    for (const other of [SHARDS - 1, SHARDS, SHARDS + 1]) expect(await leases.ensureShards(other)).toBe(SHARDS);
    await database.pool.query('DELETE FROM shard_leases');
    const first = await Promise.all([leases.ensureShards(3), leases.ensureShards(5), leases.ensureShards()]);
    const { rows } = await database.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM shard_leases');
    const made = rows[0]?.n;
    expect([3, 5, 8]).toContain(made);
    expect(first).toEqual([made, made, made]);
  });

  it('takes every shard while it is alone', async () => {
    const worker = start('a');
    await worker.count(SHARDS);
    expect(worker.owner.shards).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('shares with a worker that joins: both get half, none is ever held twice', async () => {
    const a = start('a');
    await a.count(SHARDS);
    const b = start('b');
    await Promise.all([a.count(4), b.count(4)]);
    expect(new Set([...a.working.keys(), ...b.working.keys()]).size).toBe(SHARDS);
    expect(a.ended.every(({ how, held }) => how === 'finished' && held)).toBe(true);
  });

  it('hands surplus off one shard at a time, each after its work has ended', async () => {
    const a = start('a');
    await a.count(SHARDS);
    let finish = (): void => undefined;
    a.finishing = new Promise((resolve) => (finish = resolve));
    const b = start('b');
    const gone = once(b.changes, 'change');
    expect(a.working.size).toBe(SHARDS);
    finish();
    await gone;
    await Promise.all([a.count(4), b.count(4)]);
  });

  it('splits the shards between two that start together', async () => {
    const [a, b] = [start('a'), start('b')];
    await Promise.all([a.count(4), b.count(4)]);
  });

  it('stops before its time is over when it cannot renew, and another takes over with a newer epoch', async () => {
    const a = start('a');
    await a.count(SHARDS);
    const epochs = new Map([...a.working].map(([shard, held]) => [shard, held.fence.epoch]));
    a.cut = true;
    const b = start('b');
    await a.count(0);
    expect(a.ended.every(({ how }) => how === 'abandoned')).toBe(true);
    await b.count(SHARDS);
    for (const [shard, held] of b.working) expect(held.fence.epoch).toBe((epochs.get(shard) ?? 0n) + 1n);
  });

  it('takes part again once it can reach the database', async () => {
    const a = start('a');
    await a.count(SHARDS);
    a.cut = true;
    await a.count(0);
    a.cut = false;
    await a.count(SHARDS);
  });

  it('gives up what a late renewal holds of shards that it has lost, also after a failed try, and claims them again', async () => {
    const a = start('a');
    await a.count(SHARDS);
    const epochs = new Map([...a.working].map(([shard, held]) => [shard, held.fence.epoch]));
    a.instead.set('renew', async (renew) => {
      await a.count(0);
      const renewed = await renew();
      await database.pool.query("UPDATE shard_leases SET expires_at = now() + interval '1 hour' WHERE owner_id = 'a'");
      return renewed;
    });
    a.instead.set('release', () => Promise.reject(new Error('wire cut')));
    await a.count(0);
    await a.count(SHARDS);
    for (const [shard, held] of a.working) expect(held.fence.epoch).toBe((epochs.get(shard) ?? 0n) + 1n);
    expect(await Promise.all([...a.working.values()].map((held) => held.verify()))).not.toContain(false);
  });

  it('gives up what was renewed without its knowledge, once it has lost it', async () => {
    const a = start('a');
    await a.count(SHARDS);
    a.instead.set('renew', async (renew) => {
      await renew();
      await database.pool.query("UPDATE shard_leases SET expires_at = now() + interval '1 hour' WHERE owner_id = 'a'");
      a.cut = true;
      throw new Error('the answer was lost');
    });
    await a.count(0);
    a.cut = false;
    await a.count(SHARDS);
  });

  it('does not renew a shard that it has lost when its work looks whether it is still held', async () => {
    const a = start('a');
    await a.count(SHARDS);
    const held = a.working.get(3);
    held?.lose('fenced');
    a.instead.set('renew', () => Promise.reject(new Error('renewed')));
    expect(await held?.verify()).toBe(false);
  });

  it('loses a shard that another worker has claimed, and refuses writes of the old epoch', async () => {
    const a = start('a');
    await a.count(SHARDS);
    const held = a.working.get(3);
    const old: Fence = held?.fence ?? { shard: 3, epoch: 0n };
    await fencedTransaction(database, old, async () => undefined);
    await database.pool.query(
      "UPDATE shard_leases SET owner_id = 'x', epoch = epoch + 1, expires_at = now() + interval '1 minute' WHERE shard = 3",
    );
    expect(await held?.verify()).toBe(false);
    expect(a.ended).toEqual([{ shard: 3, how: 'abandoned', held: false }]);
    await expect(fencedTransaction(database, old, async () => undefined)).rejects.toBeInstanceOf(FencedError);
  });

  it('drains: finishes its work, releases everything, and the other takes all of it at once', async () => {
    const [a, b] = [start('a'), start('b')];
    await Promise.all([a.count(4), b.count(4)]);
    await a.owner.drain();
    expect(a.working.size).toBe(0);
    expect(a.ended.slice(-4).every(({ how }) => how === 'finished')).toBe(true);
    await b.count(SHARDS);
  });

  describe('with orders of operators', () => {
    const wants = (text: string, values: unknown[]) => database.pool.query(text, values);
    const drain = (id: string) => wants('UPDATE workers SET drained_at = now() WHERE id = $1', [id]);
    const undrain = (id: string) => wants('UPDATE workers SET drained_at = NULL WHERE id = $1', [id]);
    const place = (shard: number, id: string | null) =>
      wants('UPDATE shard_leases SET placed_on = $2 WHERE shard = $1', [shard, id]);
    const placements = async (): Promise<string[]> => {
      const { rows } = await database.pool.query<{ place: string }>(
        "SELECT shard || ':' || placed_on AS place FROM shard_leases WHERE placed_on IS NOT NULL ORDER BY shard",
      );
      return rows.map((row) => row.place);
    };
    const two = async (): Promise<[TestWorker, TestWorker]> => {
      const a = start('a');
      await a.count(SHARDS);
      const b = start('b');
      await Promise.all([a.count(4), b.count(4)]);
      return [a, b];
    };

    it('hands off every shard of a drained worker, and returns its share once it is undrained', async () => {
      const [a, b] = await two();
      await drain('a');
      await Promise.all([a.count(0), b.count(SHARDS)]);
      expect(a.ended.every(({ how }) => how === 'finished')).toBe(true);
      await undrain('a');
      await Promise.all([a.count(4), b.count(4)]);
    });

    it('leaves the shards of a drained worker where they are while no other worker accepts any', async () => {
      const a = start('a');
      await a.count(SHARDS);
      await drain('a');
      const b = start('b');
      await b.count(SHARDS);
      await drain('b');
      await undrain('a'); // a change that is seen only in a look that also saw both
      await Promise.all([a.count(SHARDS), b.count(0)]);
    });

    it('moves a placed shard to its worker after its work has ended, and moves no more than the spreading requires', async () => {
      const [a, b] = await two();
      const [shard] = [...b.working.keys()];
      if (shard === undefined) throw new Error('no shard');
      await place(shard, 'a');
      await a.until((working) => working.has(shard));
      expect(b.ended).toEqual([{ shard, how: 'finished', held: true }]);
      expect([a.working.size, b.working.size]).toEqual([5, 3]);
      const c = start('c');
      await c.count(2);
      expect(a.working.has(shard)).toBe(true);
    });

    it('spreads a placed shard again when its worker is gone, drained, or the placement is taken back', async () => {
      const [a, b] = await two();
      const [shard = -1] = [...b.working.keys()];
      await place(shard, 'a');
      await a.until((working) => working.has(shard));
      await drain('a');
      await b.count(SHARDS);
      expect(await placements()).toEqual([]);
      await undrain('a');
      await Promise.all([a.count(4), b.count(4)]);
      const [held = -1] = [...a.working.keys()];
      await place(held, 'a');
      expect(await placements()).toEqual([`${held}:a`]);
      await a.owner.drain();
      await b.count(SHARDS);
      expect(await placements()).toEqual([]);
      const [other = -1] = [...b.working.keys()];
      await place(other, 'nobody');
      const c = start('c');
      await Promise.all([b.count(4), c.count(4)]);
    });
  });
});
