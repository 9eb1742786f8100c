import { randomBytes } from 'node:crypto';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { ObjectStorage } from '@dormouse/object-storage';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { purgeChannelMedia } from './retention.js';
import { fileOf } from './test-files.js';
import { MediaUploads } from './uploads.js';

const BATCH = 3;
const FILES = 2 * BATCH + 1;

describe('purgeChannelMedia', () => {
  let test: { database: TestStore; bucket: TestBucket };
  let database: RegionalDatabase;
  let storage: ObjectStorage;
  let uploads: MediaUploads;
  let channel = '';

  beforeAll(async () => {
    test = { database: await createTestDatabase('regional'), bucket: await createTestBucket() };
    database = openRegionalDatabase({ url: test.database.url, applicationName: 'purge-channel-spec' });
    storage = new ObjectStorage({ ...test.bucket, attempts: 1 });
    uploads = new MediaUploads({ database, storage });
  });
  afterAll(async () => {
    storage.close();
    await database.close();
    await Promise.all([test.database.drop(), test.bucket.drop()]);
  });
  beforeEach(() => {
    channel = `CH-${randomBytes(4).toString('hex')}`;
  });

  const rows = async (text: string): Promise<number> => (await database.pool.query(text, [channel])).rowCount ?? 0;
  const lying = async (): Promise<number> => {
    let count = 0;
    for await (const { key } of storage.list(`media/${channel}/`)) if (key) count += 1;
    return count;
  };
  /** What the channel has: files, objects that are not doomed, objects, bytes in the storage. */
  const has = async () => [
    await rows('SELECT 1 FROM media_files WHERE channel_id = $1'),
    await rows('SELECT 1 FROM media_objects WHERE channel_id = $1 AND doomed_at IS NULL'),
    await rows('SELECT 1 FROM media_objects WHERE channel_id = $1'),
    await lying(),
  ];
  /** Files of their own bytes, and others that share theirs; objects without a file; bytes without an object. */
  const fill = async (): Promise<void> => {
    for (let n = 0; n < FILES; n += 1) {
      await uploads.keep(channel, fileOf(`own ${n}`), 'uploaded');
      await uploads.keep(channel, fileOf('shared'), 'sent');
      await storage.put(`media/${channel}/lost-${n}`, Buffer.from('lost'));
    }
    await database.pool.query(
      `INSERT INTO media_objects (key, channel_id, sha256, size)
       SELECT 'media/' || $1 || '/writing-' || n, $1, '\\x00', 5 FROM generate_series(1, $2::int) n`,
      [channel, FILES],
    );
  };

  it('takes no more than a batch of anything in one step, and leaves nothing after the last', async () => {
    await fill();
    const steps = [await has()];
    const pause = async () => void steps.push(await has());
    await purgeChannelMedia({ database, storage, batch: BATCH, pause }, channel);
    steps.push(await has());
    expect(steps.at(-1)).toEqual([0, 0, 0, 0]);
    const taken = steps.slice(1).map((step, n) => step.map((left, kind) => (steps[n]?.[kind] ?? 0) - left));
    // Between two pauses are a last step that is not full and the first of what follows.
    expect(Math.max(...taken.flat())).toBeLessThan(2 * BATCH);
    expect(steps.length).toBeGreaterThan((5 * FILES) / BATCH);
  });

  it('ends where it is stopped, and goes on there in the next call', async () => {
    await fill();
    const stop = () => Promise.reject(new Error('stopped'));
    for (let left = Number.POSITIVE_INFINITY; left > 0;) {
      const purged = purgeChannelMedia({ database, storage, batch: BATCH, pause: stop }, channel);
      const end = await purged.catch((error: unknown) => error);
      if (end !== undefined) expect(end).toMatchObject({ message: 'stopped' });
      const now = (await has()).reduce((sum, count) => sum + count, 0);
      expect(now).toBeLessThan(left);
      left = now;
    }
    expect(await rows('SELECT 1 FROM media_usage WHERE channel_id = $1')).toBe(0);
  });
});
