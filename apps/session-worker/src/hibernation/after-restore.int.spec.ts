import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { FencedError, openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { ObjectStorage } from '@dormouse/object-storage';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { AuthRows } from '../auth-state/auth-rows.js';
import { networkAuthStates } from '../socket/key-format.js';
import { Hibernation } from './hibernation.js';

const AFTER_RESTORE = new URL('../../../../infra/postgres/after-restore.sql', import.meta.url);
const masterKeys = { currentId: 'k', keys: new Map([['k', randomBytes(32)]]) };
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const WAKE_AT_MS = Date.now() + 86_400_000;
const MOVING = ['sender-key', 'sender-key-memory', 'session'];

describe('after a database was restored to an earlier time', () => {
  let store: TestStore;
  let bucket: TestBucket;
  let database: RegionalDatabase;
  let storage: ObjectStorage;
  let hibernation: Hibernation;
  const before = { fence: { shard: 0, epoch: 1n }, isHeld: () => true };

  beforeAll(async () => {
    [store, bucket] = await Promise.all([createTestDatabase('regional'), createTestBucket()]);
    database = openRegionalDatabase({ url: store.url, applicationName: 'after-restore-spec' });
    storage = new ObjectStorage(bucket);
    hibernation = new Hibernation({ database, storage, masterKeys, log: silent });
    await database.pool.query("INSERT INTO shard_leases (shard, epoch, owner_id) VALUES (0, 1, 'spec')");
  });

  afterAll(async () => {
    storage.close();
    await bucket.drop();
    await database.close();
    await store.drop();
  });

  const channel = async (id: string): Promise<void> => {
    const directory = new ChannelDirectory({ database, cacheMs: 0 });
    await directory.create({ id, accountId: 'a', name: id, tokenHash: randomBytes(32), shard: 0 });
    const auth = await networkAuthStates(new AuthRows(database), masterKeys).create(before, id);
    await auth.keys.set({
      session: { friend: Buffer.from('ratchet') },
      'sender-key': { group: Buffer.from('chain') },
      'sender-key-memory': { group: { friend: true } },
      'lid-mapping': { '1': 'stays' },
    });
    await auth.saveCreds();
  };

  const typesOf = async (channelId: string): Promise<string[]> => {
    const found = await database.prisma.authKey.findMany({ where: { channelId }, orderBy: { type: 'asc' } });
    return found.map(({ type }) => type);
  };

  it('keys of conversations are gone, of numbers that are awake and asleep; earlier owners are fenced out; events count on', async () => {
    await channel('awake');
    await channel('asleep');
    await hibernation.seal(before, 'asleep', WAKE_AT_MS);
    await database.pool.query("INSERT INTO event_sequences (channel_id, last_seq) VALUES ('awake', 7)");
    expect(await typesOf('awake')).toEqual(expect.arrayContaining(MOVING));

    for (let times = 0; times < 2; times += 1) await database.pool.query(readFileSync(AFTER_RESTORE, 'utf8'));
    expect(await typesOf('awake')).toEqual(['lid-mapping']);
    await expect(hibernation.restore(before, 'asleep')).rejects.toBeInstanceOf(FencedError);

    const { rows } = await database.pool.query<{ epoch: string }>('SELECT epoch FROM shard_leases');
    const owner = { fence: { shard: 0, epoch: BigInt(rows[0]?.epoch ?? 0) }, isHeld: () => true };
    await hibernation.restore(owner, 'asleep');
    expect(await typesOf('asleep')).toEqual(['lid-mapping']);
    const sequences = await database.pool.query<{ last_seq: string }>('SELECT last_seq FROM event_sequences');
    expect(Number(sequences.rows[0]?.last_seq)).toBeGreaterThan(1_000_000);
  });
});
