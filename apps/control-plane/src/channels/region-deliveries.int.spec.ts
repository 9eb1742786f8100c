import { EventEmitter, once } from 'node:events';
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

/** From the moment at which the region can be reached again. */
const ARRIVES_WITHIN_MS = 2_000;
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

  it('the newest token and a deletion arrive within 2 s of the return of the region, and nothing waits any more', async () => {
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
    const back = performance.now();
    proxy.restore();
    await Promise.all(arrived);
    // Of the deleted one its token may have come first.
    while ((await directory.byId(deleted.id))?.deleted === false) await once(changes, deleted.id);
    expect(performance.now() - back).toBeLessThan(ARRIVES_WITHIN_MS);
    expect(await Promise.all([newest.token, first.token, replaced.token].map(ownerOf))).toEqual([
      replaced.id,
      undefined,
      undefined,
    ]);
    expect(await Promise.all([promised.token, deleted.token].map(ownerOf))).toEqual([undefined, undefined]);
    await deliveries.stop();
    for (const { id } of [replaced, deleted]) expect(await leftFor(id)).toEqual({ unsettled: false, hash: null });
  });
});
