import { randomBytes } from 'node:crypto';
import { openRegionalDatabase, transaction, type RegionalDatabase } from '@dormouse/database';
import { ObjectStorage } from '@dormouse/object-storage';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { NetworkMedia } from './network.js';
import { MediaReader } from './read.js';
import { purgeChannelMedia, sweepMedia } from './retention.js';
import { fileOf } from './test-files.js';
import { MediaUploads } from './uploads.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
const START_MS = Date.UTC(2026, 10, 1);

let nowMs = START_MS;
let test: { database: TestStore; bucket: TestBucket };
let database: RegionalDatabase;
let storage: ObjectStorage;
let uploads: MediaUploads;
let reader: MediaReader;
let channel = '';

const options = () => ({ database, storage, now: () => nowMs });

beforeAll(async () => {
  test = { database: await createTestDatabase('regional'), bucket: await createTestBucket() };
  database = openRegionalDatabase({ url: test.database.url, applicationName: 'spec' });
  storage = new ObjectStorage({ ...test.bucket, attempts: 1 });
  uploads = new MediaUploads(options());
  reader = new MediaReader(options());
});

afterAll(async () => {
  storage.close();
  await database.close();
  await test.database.drop();
  await test.bucket.drop();
});

beforeEach(() => {
  channel = `CH-${randomBytes(4).toString('hex')}`;
  nowMs = START_MS;
});

async function keysOf(channelId: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of storage.list(`media/${channelId}/`)) keys.push(key);
  return keys;
}

describe('the room of a channel', () => {
  const KIB = 1024;
  const bounded = () => ({ ...options(), maxBytesPerChannel: 10 * KIB });
  const bounds = () => new MediaUploads(bounded());
  const full = { status: 413, message: 'the storage of the channel is full' };
  const used = async () => {
    const text = 'SELECT bytes FROM media_usage WHERE channel_id = $1';
    return Number((await database.pool.query<{ bytes: string }>(text, [channel])).rows[0]?.bytes);
  };

  it('refuses a file that does not fit with 413 and what to do, stores nothing of it, and goes on with what fits', async () => {
    await bounds().keep(channel, fileOf(randomBytes(6 * KIB)), 'uploaded');
    const refused = bounds().keep(channel, fileOf(randomBytes(4 * KIB + 1)), 'sent');
    await expect(refused).rejects.toMatchObject({
      ...full,
      details: expect.stringMatching(/10240 bytes.*DELETE \/media/),
    });
    expect(await keysOf(channel)).toHaveLength(1);
    await bounds().keep(channel, fileOf(randomBytes(4 * KIB)), 'sent');
    await expect(bounds().keep('CH-other', fileOf(randomBytes(4 * KIB)), 'sent')).resolves.toBeDefined();
  });

  it('is never exceeded by files that arrive at once', async () => {
    await bounds().keep(channel, fileOf('first'), 'uploaded');
    const give = () => bounds().keep(channel, fileOf(randomBytes(4 * KIB)), 'uploaded');
    // All of them reach the sum before one has changed it.
    const kept = await transaction(database, async (connection) => {
      await connection.query('SELECT 1 FROM media_usage WHERE channel_id = $1 FOR UPDATE', [channel]);
      const giving = Promise.allSettled([give(), give(), give(), give()]);
      const waiting = `SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE NOT l.granted AND a.datname = current_database()`;
      // On another connection: within a transaction pg_stat_activity stays as it was when it was read first.
      while ((await database.pool.query(waiting)).rowCount !== 4) await new Promise((resolve) => setImmediate(resolve));
      return { giving };
    }).then(({ giving }) => giving);
    expect(kept.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
    expect([await used(), (await keysOf(channel)).length]).toEqual([8 * KIB + 5, 3]);
  });

  it('counts the same bytes once, and takes them under another name in a full channel', async () => {
    const meme = randomBytes(10 * KIB);
    const kept = await bounds().keep(channel, fileOf(meme), 'uploaded');
    await bounds().keep(channel, fileOf(meme, { fileName: 'again.png' }), 'uploaded');
    await new NetworkMedia(bounded()).nameKnown(channel, 'png-01', kept.sha256, { mimeType: 'a/b', origin: 'sent' });
    expect(await used()).toBe(10 * KIB);
  });

  it('is free again at once when the last file with the bytes is deleted, and after a file has expired', async () => {
    const file = fileOf(randomBytes(10 * KIB));
    const first = await bounds().keep(channel, file, 'uploaded');
    const second = await bounds().keep(channel, file, 'uploaded');
    await uploads.delete(channel, first.id);
    await expect(bounds().keep(channel, fileOf('x'), 'sent')).rejects.toMatchObject(full);
    await uploads.delete(channel, second.id);
    await bounds().keep(channel, fileOf(randomBytes(10 * KIB)), 'sent');
    nowMs += 31 * DAY_MS;
    await sweepMedia(options());
    expect(await used()).toBe(0);
  });

  it('is free again at once after a write that failed, whose bytes are deleted a day later', async () => {
    const away = new ObjectStorage({ ...test.bucket, endpoint: 'http://127.0.0.1:9', attempts: 1 });
    const failing = new MediaUploads({ ...bounded(), storage: away });
    for (let time = 0; time < 2; time += 1) {
      await expect(failing.keep(channel, fileOf(randomBytes(9 * KIB)), 'sent')).rejects.toMatchObject({ status: 502 });
    }
    away.close();
    expect(await used()).toBe(0);
    const objects = async () =>
      (await database.pool.query('SELECT 1 FROM media_objects WHERE channel_id = $1', [channel])).rowCount;
    await sweepMedia(options());
    expect(await objects()).toBe(2);
    nowMs += DAY_MS;
    await sweepMedia(options());
    expect(await objects()).toBe(0);
  });

  it('holds received and converted files as well; those are refused before they are fetched', async () => {
    const bound = new NetworkMedia(bounded());
    await bound.keepReceived(channel, 'jpeg-01', fileOf(randomBytes(8 * KIB)), { mimeType: 'image/jpeg' });
    await expect(bound.assertMayKeep(channel, 'jpeg-02', 3 * KIB)).rejects.toMatchObject(full);
    await expect(bound.assertMayKeep(channel, 'jpeg-02', 2 * KIB)).resolves.toBeUndefined();
    const large = () => fileOf(randomBytes(3 * KIB));
    await expect(bound.keepReceived(channel, 'jpeg-02', large(), { mimeType: 'a/b' })).rejects.toMatchObject(full);
    await expect(bound.keepMade(channel, large(), { mimeType: 'a/b' })).rejects.toMatchObject(full);
    expect(await reader.file(channel, 'jpeg-02')).toBeUndefined();
  });

  it('is the sum of what lies there, also while the same content is given, deleted and swept at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const kept = await uploads.keep(channel, fileOf(`same ${round}`), 'uploaded');
      await Promise.all([
        uploads.delete(channel, kept.id),
        ...Array.from({ length: 3 }, () => uploads.keep(channel, fileOf(`other ${round}`), 'sent')),
        uploads.keep(channel, fileOf(`same ${round}`), 'sent'),
        purgeChannelMedia({ ...options(), batch: 500, pause: () => Promise.resolve() }, 'CH-none'),
        sweepMedia(options()),
      ]);
    }
    await sweepMedia(options());
    const text = 'SELECT sum(size) AS bytes FROM media_objects WHERE channel_id = $1';
    const lying = await database.pool.query<{ bytes: string }>(text, [channel]);
    expect(await used()).toBe(Number(lying.rows[0]?.bytes));
  });
});
