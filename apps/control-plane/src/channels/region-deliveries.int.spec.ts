import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { openLog } from '@dormouse/bootstrap';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { hashToken } from '@dormouse/channel-token';
import {
  openGlobalDatabase,
  openRegionalDatabase,
  type GlobalDatabase,
  type Listener,
  type RegionalDatabase,
} from '@dormouse/database';
import { FaultProxy } from '@dormouse/stack/test-fault-proxy';
import { claimTestRedis, createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { Accounts } from '../accounts/accounts.js';
import type { Cause } from '../accounts/cause.js';
import { DEFAULT_LIMITS } from '../management-limits.js';
import { Regions } from '../regions/regions.js';
import { ChannelEntries } from './channel-entries.js';
import { Channels } from './channels.js';
import { RegionDeliveries } from './region-deliveries.js';
import { TokenRotations } from './token-rotations.js';

/** What the runbook has operators run after a restore. */
const AFTER_RESTORE = readFileSync(
  new URL('../../../../infra/postgres/after-restore-global.sql', import.meta.url),
  'utf8',
);
const CAUSE: Cause = { actor: { kind: 'system', id: 'spec' } };

describe('what a region lacks of its channels', () => {
  let stores: [global: TestStore, regional: TestStore, redis: TestStore];
  let database: GlobalDatabase;
  let regional: RegionalDatabase;
  let proxy: FaultProxy;
  let regions: Regions;
  let channels: Channels;
  let rotations: TokenRotations;
  let deliveries: RegionDeliveries;
  let listener: Listener;
  let accountId: string;
  /** As the region itself sees them. */
  let directory: ChannelDirectory;
  const changes = new EventEmitter();

  beforeAll(async () => {
    stores = await Promise.all([createTestDatabase('global'), createTestDatabase('regional'), claimTestRedis()]);
    const [globalStore, regionalStore, redis] = stores;
    proxy = await FaultProxy.to(regionalStore.url);
    database = openGlobalDatabase({ url: globalStore.url, applicationName: 'deliveries-spec' });
    regional = openRegionalDatabase({ url: regionalStore.url, applicationName: 'deliveries-spec' });
    await regional.pool.query('INSERT INTO shard_leases (shard) VALUES (0)');
    directory = new ChannelDirectory({ database: regional, cacheMs: 0 });
    const log = openLog({ name: 'spec', level: 'silent' });
    regions = new Regions(new Map([['eu', { databaseUrl: proxy.url, redisUrl: redis.url }]]), log);
    const entries = new ChannelEntries(database);
    rotations = new TokenRotations(database);
    channels = new Channels({ entries, rotations, regions, log, database, limits: DEFAULT_LIMITS });
    deliveries = new RegionDeliveries({ entries, rotations, regions, log });
    ({ accountId } = await new Accounts(database).create('Spec'));
    await new Promise<void>((resolve) => {
      listener = regional.listen({
        channels: ['channel_changed'],
        purpose: 'spec',
        onListening: resolve,
        onNotification: (_channel, id) => void changes.emit(id),
        onEnd: () => undefined,
      });
    });
  });
  afterAll(async () => {
    await deliveries.stop();
    await listener.close();
    await regions.close();
    await Promise.all([database.close(), regional.close()]);
    await proxy.close();
    await Promise.all(stores.map((store) => store.drop()));
  });

  const create = async (): Promise<{ id: string; token: string }> => {
    const { channel, token } = await channels.create(accountId, { name: 'Shop' }, CAUSE);
    return { id: channel.id, token };
  };
  const ownerOf = async (token: string): Promise<string | undefined> =>
    (await directory.byTokenHash(hashToken(token)))?.id;
  const leftFor = async (id: string): Promise<unknown> =>
    (
      await database.pool.query(
        'SELECT unsettled_since IS NOT NULL AS unsettled, pending_token_hash AS hash FROM channels WHERE id = $1',
        [id],
      )
    ).rows[0];

  it('a token that was stored before a process died replaces the present one', async () => {
    const { id, token } = await create();
    await rotations.begin(accountId, id, hashToken('left behind'), CAUSE);
    const changed = once(changes, id);
    deliveries.start();
    await changed;
    expect([await ownerOf('left behind'), await ownerOf(token)]).toEqual([id, undefined]);
  });

  it('the newest token and a deletion arrive at the return of the region, and nothing waits any more', async () => {
    const [replaced, deleted] = [await create(), await create()];
    proxy.refuse();
    const first = await channels.rotateToken(accountId, replaced.id, CAUSE);
    const newest = await channels.rotateToken(accountId, replaced.id, CAUSE);
    const promised = await channels.rotateToken(accountId, deleted.id, CAUSE);
    expect([first, newest, promised].map(({ takes_effect: effect }) => effect)).toEqual(
      Array.from({ length: 3 }, () => 'when_the_region_answers'),
    );
    await expect(channels.delete(accountId, deleted.id, CAUSE)).rejects.toMatchObject({ status: 503 });
    const arrived = [replaced.id, deleted.id].map((id) => once(changes, id));
    proxy.restore();
    await Promise.all(arrived);
    // Of the deleted one its token may have come first.
    while ((await directory.byId(deleted.id))?.deleted === false) await once(changes, deleted.id);
    expect(await Promise.all([newest.token, first.token, replaced.token].map(ownerOf))).toEqual([
      replaced.id,
      undefined,
      undefined,
    ]);
    expect(await Promise.all([promised.token, deleted.token].map(ownerOf))).toEqual([undefined, undefined]);
    await deliveries.stop();
    for (const { id } of [replaced, deleted]) expect(await leftFor(id)).toEqual({ unsettled: false, hash: null });
  });

  describe('a region that was restored to an earlier time', () => {
    let deleted: { id: string; token: string };
    let rotated: { id: string; token: string };
    let kept: { id: string; token: string };
    let late: { id: string; token: string };
    let ofEnded: { id: string; token: string };
    let newest: string;
    let waiting: string;

    const runAfterRestore = async (target: Date): Promise<void> => {
      const text = AFTER_RESTORE.replaceAll(":'region'", "'eu'").replaceAll(":'target'", `'${target.toISOString()}'`);
      await database.pool.query(text);
    };
    /** A token's version is the time at which it was made, in whole milliseconds. */
    const momentAfterTokenOf = async (id: string): Promise<Date> => {
      const { rows } = await database.pool.query<{ version: string }>(
        'SELECT token_version AS version FROM channels WHERE id = $1',
        [id],
      );
      return new Date(Number(rows[0]?.version) + 1);
    };
    const deliverAll = (): Promise<void> => deliveries.deliver('eu', regional);

    beforeEach(async () => {
      await deliveries.stop();
      const made = await Promise.all(Array.from({ length: 4 }, create));
      [deleted, rotated, kept, late] = made as [typeof deleted, typeof rotated, typeof kept, typeof late];
      const ended = await new Accounts(database).create('Ended');
      const { channel, token } = await channels.create(ended.accountId, { name: 'Shop' }, CAUSE);
      ofEnded = { id: channel.id, token };
      const ids = [...made, ofEnded].map(({ id }) => id);
      // Its deletion begins before the target, and reaches the region after it.
      await new ChannelEntries(database).beginDeletion(accountId, late.id, CAUSE);
      ({ token: kept.token } = await channels.rotateToken(accountId, kept.id, CAUSE));
      const { rows: before } = await regional.pool.query<{ row: object }>(
        'SELECT to_jsonb(c) AS row FROM channels c WHERE id = ANY($1)',
        [ids],
      );
      const target = await momentAfterTokenOf(kept.id);
      await deliverAll();
      await channels.delete(accountId, deleted.id, CAUSE);
      await channels.delete(ended.accountId, ofEnded.id, CAUSE);
      await database.pool.query(`UPDATE accounts SET deleted_at = now(), erased_at = now() WHERE id = $1`, [
        ended.accountId,
      ]);
      ({ token: newest } = await channels.rotateToken(accountId, rotated.id, CAUSE));
      const waits = await create();
      await rotations.begin(accountId, waits.id, hashToken(`waits for ${waits.id}`), CAUSE);
      waiting = waits.id;
      await database.pool.query(
        `INSERT INTO channel_standings (channel_id, account_id, region, standing, version, delivered_version)
         VALUES ($1, $2, 'eu', 'past_due', 2, 2)`,
        [kept.id, accountId],
      );

      await regional.pool.query('DELETE FROM channels WHERE id = ANY($1)', [ids]);
      for (const { row } of before)
        await regional.pool.query('INSERT INTO channels SELECT * FROM jsonb_populate_record(NULL::channels, $1)', [
          row,
        ]);
      // As the restore leaves them: live, with the tokens of then.
      expect(await Promise.all([deleted, ofEnded, late, rotated].map(({ token }) => ownerOf(token)))).toEqual(
        [deleted, ofEnded, late, rotated].map(({ id }) => id),
      );
      await runAfterRestore(target);
    });

    it('refuses the tokens of its deleted channels, those of ended accounts and late ones included', async () => {
      await deliverAll();
      expect(await Promise.all([deleted, ofEnded, late].map(({ token }) => ownerOf(token)))).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      for (const { id } of [deleted, ofEnded, late]) {
        expect((await directory.byId(id))?.deleted).toBe(true);
        expect(await leftFor(id)).toMatchObject({ unsettled: false });
      }
    });

    it('refuses a token that was replaced since, until it is rotated again, and takes one that waited', async () => {
      await deliverAll();
      expect(await Promise.all([rotated.token, newest].map(ownerOf))).toEqual([undefined, undefined]);
      expect(await ownerOf(`waits for ${waiting}`)).toBe(waiting);
      const { token } = await channels.rotateToken(accountId, rotated.id, CAUSE);
      expect(await ownerOf(token)).toBe(rotated.id);
    });

    it('keeps every other channel with its token, and gets the standings again', async () => {
      await deliverAll();
      expect(await ownerOf(kept.token)).toBe(kept.id);
      const { rows } = await database.pool.query(
        'SELECT delivered_version FROM channel_standings WHERE channel_id = $1',
        [kept.id],
      );
      expect(rows).toEqual([{ delivered_version: '0' }]);
    });
  });
});
