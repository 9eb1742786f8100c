import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
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
let network: NetworkMedia;
let channel = '';

const options = () => ({ database, storage, now: () => nowMs });

beforeAll(async () => {
  test = { database: await createTestDatabase('regional'), bucket: await createTestBucket() };
  database = openRegionalDatabase({ url: test.database.url, applicationName: 'spec' });
  storage = new ObjectStorage({ ...test.bucket, attempts: 1 });
  uploads = new MediaUploads(options());
  reader = new MediaReader(options());
  network = new NetworkMedia(options());
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

const list = (query = {}) => reader.list(channel, { count: 100, offset: 0, sort: 'desc', ...query });

async function bytesOf(id: string): Promise<string | undefined> {
  const opened = await reader.open(channel, id);
  return opened && (await buffer(opened.object.stream)).toString();
}

describe('uploads', () => {
  it('keeps a file under an id of the agreed form and gives the same bytes back', async () => {
    const kept = await uploads.keep(channel, fileOf('hello'), 'uploaded');
    expect(kept.id).toMatch(/^png-[0-9a-f]{32}-[0-9a-f]{14}$/);
    const opened = await reader.open(channel, kept.id);
    expect((await buffer(opened?.object.stream ?? Readable.from([]))).toString()).toBe('hello');
    expect(opened?.file).toMatchObject({ mimeType: 'image/png', fileName: 'dot.png', size: 5 });
    const part = await reader.open(channel, kept.id, { range: { start: 1, end: 2 } });
    expect((await buffer(part?.object.stream ?? Readable.from([]))).toString()).toBe('el');
    await expect(reader.open(channel, kept.id, { range: { start: 5 } })).rejects.toMatchObject({ failure: 'range' });
  });

  it('stores the same bytes of a channel once, also when they come at the same time', async () => {
    const kept = await Promise.all(
      ['a.png', 'a.png', 'b.png', 'b.png', 'c.png'].map((fileName) =>
        uploads.keep(channel, fileOf('same', { fileName }), 'uploaded'),
      ),
    );
    await sweepMedia(options());
    expect(await keysOf(channel)).toHaveLength(1);
    expect(await Promise.all(kept.map((file) => bytesOf(file.id)))).toEqual(Array(5).fill('same'));
  });

  it('gives the same bytes under the same name lives of their own', async () => {
    const [first, second, sent] = [
      await uploads.keep(channel, fileOf('twice'), 'uploaded'),
      await uploads.keep(channel, fileOf('twice'), 'uploaded'),
      await uploads.keep(channel, fileOf('twice'), 'sent'),
    ];
    expect(new Set([first.id, second.id, sent.id]).size).toBe(3);
    expect((await list()).total).toBe(2);
    expect(await uploads.delete(channel, first.id)).toBe(true);
    expect(await bytesOf(first.id)).toBeUndefined();
    expect([await bytesOf(second.id), await bytesOf(sent.id)]).toEqual(['twice', 'twice']);
    expect(await keysOf(channel)).toHaveLength(1);
  });

  it('shows a file to its own channel only', async () => {
    const kept = await uploads.keep(channel, fileOf('mine'), 'uploaded');
    expect(await reader.file('CH-other', kept.id)).toBeUndefined();
    expect(await uploads.delete('CH-other', kept.id)).toBe(false);
    expect(await bytesOf(kept.id)).toBe('mine');
  });

  it('deletes the bytes with the last file that uses them, and not before', async () => {
    const first = await uploads.keep(channel, fileOf('shared', { fileName: 'a.png' }), 'uploaded');
    const second = await uploads.keep(channel, fileOf('shared', { fileName: 'b.png' }), 'sent');
    expect(await uploads.delete(channel, first.id)).toBe(true);
    expect(await uploads.delete(channel, first.id)).toBe(false);
    expect(await bytesOf(first.id)).toBeUndefined();
    expect(await bytesOf(second.id)).toBe('shared');
    await uploads.delete(channel, second.id);
    expect(await keysOf(channel)).toEqual([]);
  });

  it('never leaves a file without bytes when the same content is deleted and given at once', async () => {
    for (let round = 0; round < 15; round += 1) {
      const kept = await uploads.keep(channel, fileOf('contended'), 'uploaded');
      const [, again] = await Promise.all([
        uploads.delete(channel, kept.id),
        uploads.keep(channel, fileOf('contended', { fileName: `${round}.png` }), 'uploaded'),
        uploads.keep(channel, fileOf('contended'), 'sent'),
      ]);
      expect(await bytesOf(again.id)).toBe('contended');
    }
  });

  it('stores nothing when the storage is unreachable, and answers 502', async () => {
    const away = new ObjectStorage({ ...test.bucket, endpoint: 'http://127.0.0.1:9', attempts: 1 });
    await expect(
      new MediaUploads({ ...options(), storage: away }).keep(channel, fileOf('lost'), 'uploaded'),
    ).rejects.toMatchObject({ status: 502 });
    away.close();
    expect((await list()).total).toBe(0);
    nowMs += 2 * DAY_MS;
    await sweepMedia(options());
    const rows = await database.pool.query('SELECT 1 FROM media_objects WHERE channel_id = $1', [channel]);
    expect(rows.rowCount).toBe(0);
  });
});

describe('the list', () => {
  it('has uploaded files only, by time, paged, with links that work without a token', async () => {
    const ids: string[] = [];
    for (const [index, name] of ['one', 'two', 'three'].entries()) {
      nowMs = START_MS + index * 1_000;
      ids.push((await uploads.keep(channel, fileOf(name, { fileName: `${name}.png` }), 'uploaded')).id);
    }
    await uploads.keep(channel, fileOf('with a send'), 'sent');
    const all = await list();
    expect(all.total).toBe(3);
    expect(all.files.map((file) => file.id)).toEqual([...ids].reverse());
    expect(all.files[0]).toMatchObject({
      mime_type: 'image/png',
      file_size: 5,
      file_name: 'three.png',
      timestamp: START_MS / 1_000 + 2,
      sha256: createHash('sha256').update('three').digest('base64'),
    });
    const link = await fetch(all.files[0]?.link ?? '');
    expect(await link.text()).toBe('three');
    expect(link.headers.get('content-disposition')).toBe('attachment; filename="three.png"');
    expect(await list({ sort: 'asc', count: 1, offset: 1 })).toMatchObject({ total: 3, files: [{ id: ids[1] }] });
    expect(await list({ offset: 5 })).toEqual({ files: [], total: 3 });
    const second = START_MS / 1_000 + 1;
    expect((await list({ timeFrom: second, timeTo: second })).files.map((file) => file.id)).toEqual([ids[1]]);
  });
});

describe('retention', () => {
  it('ends a file 30 days after it was given, and its bytes with the last file that uses them', async () => {
    const old = await uploads.keep(channel, fileOf('old', { fileName: 'old.png' }), 'uploaded');
    const again = await uploads.keep(channel, fileOf('again'), 'uploaded');
    nowMs += 20 * DAY_MS;
    const later = await uploads.keep(channel, fileOf('again'), 'uploaded');
    nowMs += 10 * DAY_MS;
    expect([await reader.file(channel, old.id), await reader.file(channel, again.id)]).toEqual([undefined, undefined]);
    expect(await bytesOf(later.id)).toBe('again');
    expect(await keysOf(channel)).toHaveLength(2);
    const swept = await sweepMedia(options());
    expect(Math.min(swept.expiredFiles, swept.deletedObjects)).toBeGreaterThan(0);
    expect(await keysOf(channel)).toHaveLength(1);
    expect(await bytesOf(later.id)).toBe('again');
  });

  it('tries the deletion again after the storage was away', async () => {
    const kept = await uploads.keep(channel, fileOf('stays a while'), 'uploaded');
    const away = new ObjectStorage({ ...test.bucket, endpoint: 'http://127.0.0.1:9', attempts: 1 });
    expect(await new MediaUploads({ ...options(), storage: away }).delete(channel, kept.id)).toBe(true);
    away.close();
    expect(await keysOf(channel)).toHaveLength(1);
    await sweepMedia(options());
    expect(await keysOf(channel)).toEqual([]);
  });

  it('leaves nothing of a deleted channel, files being written and bytes without a row included', async () => {
    const other = channel;
    const { id } = await uploads.keep(other, fileOf('a'), 'uploaded');
    channel = `${other}-deleted`;
    await uploads.keep(channel, fileOf('a'), 'uploaded');
    await uploads.keep(channel, fileOf('b'), 'sent');
    await uploads.delete(channel, 'jpeg-3eb0000000000000001004-c002039eda2fd7', { forGood: true });
    await database.pool.query(
      `INSERT INTO media_objects (key, channel_id, sha256, size) VALUES ('media/' || $1 || '/x', $1, '\\x00', 5)`,
      [channel],
    );
    await storage.put(`media/${channel}/lost`, Buffer.from('lost'));
    await purgeChannelMedia({ ...options(), batch: 500, pause: () => Promise.resolve() }, channel);
    const left = await Promise.all(
      ['media_files', 'media_objects', 'media_usage'].map((table) =>
        database.pool.query(`SELECT 1 FROM ${table} WHERE channel_id = $1`, [channel]),
      ),
    );
    expect([await keysOf(channel), left.map(({ rowCount }) => rowCount)]).toEqual([[], [0, 0, 0]]);
    channel = other;
    expect(await bytesOf(id)).toBe('a');
  });
});

describe('the network half', () => {
  const RECEIVED = 'jpeg-3eb0000000000000001004-c002039eda2fd7';
  const facts = { mimeType: 'image/jpeg' };

  it('keeps received bytes under the id of their message, however often', async () => {
    for (let time = 0; time < 2; time += 1) {
      await network.keepReceived(channel, RECEIVED, fileOf('picture'), facts);
    }
    expect(await bytesOf(RECEIVED)).toBe('picture');
    expect(await keysOf(channel)).toHaveLength(1);
    expect((await list()).total).toBe(0);
  });

  it('names content that is there already without storing it again, and reports when it is not', async () => {
    const kept = await uploads.keep(channel, fileOf('meme'), 'uploaded');
    const named = await network.nameKnown(channel, RECEIVED, kept.sha256, { ...facts, origin: 'received' });
    expect(named).toEqual({ objectKey: kept.objectKey });
    await uploads.delete(channel, kept.id);
    expect(await bytesOf(RECEIVED)).toBe('meme');
    expect(await network.nameKnown(channel, 'x-00', randomBytes(32), { ...facts, origin: 'sent' })).toBeUndefined();
  });

  it('gives known content the type that was found in it, whatever a sender claims', async () => {
    const kept = await network.keepReceived(channel, RECEIVED, fileOf('picture'), facts);
    const claimed = { mimeType: 'text/html', origin: 'received' } as const;
    const other = 'html-00000000000000000000000000000002-00000000000002';
    expect(await network.nameKnown(channel, other, fileOf('picture').sha256, claimed)).toEqual(kept);
    expect((await reader.file(channel, other))?.mimeType).toBe('image/jpeg');
  });

  it('reads a type that no header can hold, from before types were checked, as bytes of any kind', async () => {
    await network.keepReceived(channel, RECEIVED, fileOf('old'), { mimeType: 'text/html\r\nX: y' });
    const file = await reader.file(channel, RECEIVED);
    expect(file?.mimeType).toBe('application/octet-stream');
    expect(file && (await fetch(await reader.link(file))).status).toBe(200);
  });

  it('ends files in the transaction that removes their messages, and the bytes with the next sweep', async () => {
    const kept = await uploads.keep(channel, fileOf('kept'), 'uploaded');
    const other = `${RECEIVED}00`;
    await network.keepReceived(channel, RECEIVED, fileOf('private'), facts);
    await network.nameKnown(channel, other, kept.sha256, { ...facts, origin: 'received' });
    const ends = (then: () => void) =>
      transaction(database, async (connection) => {
        await network.endFiles(connection, channel, [RECEIVED, other, 'jpeg-00']);
        then();
      });
    const failed = ends(() => {
      throw new Error('the messages stay');
    });
    await expect(failed).rejects.toThrow('the messages stay');
    expect(await bytesOf(RECEIVED)).toBe('private');
    await ends(() => undefined);
    expect([await bytesOf(RECEIVED), await bytesOf(other), await bytesOf(kept.id)]).toEqual([
      undefined,
      undefined,
      'kept',
    ]);
    await sweepMedia(options());
    expect(await keysOf(channel)).toEqual([kept.objectKey]);
  });

  it('never brings back what was deleted for good, fetched before or not', async () => {
    await network.keepReceived(channel, RECEIVED, fileOf('picture'), facts);
    expect(await uploads.delete(channel, RECEIVED, { forGood: true })).toBe(true);
    expect(await keysOf(channel)).toEqual([]);
    const other = `${RECEIVED}00`;
    expect(await uploads.delete(channel, other, { forGood: true })).toBe(true);
    for (const id of [RECEIVED, other]) {
      expect(await reader.isDeleted(channel, id)).toBe(true);
      await expect(network.assertMayKeep(channel, id, 0)).rejects.toMatchObject({ status: 404 });
      await expect(network.keepReceived(channel, id, fileOf('again'), facts)).rejects.toMatchObject({ status: 404 });
      expect(await bytesOf(id)).toBeUndefined();
      expect(await uploads.delete(channel, id, { forGood: true })).toBe(false);
    }
    const kept = await uploads.keep(channel, fileOf('picture'), 'uploaded');
    await expect(
      network.nameKnown(channel, RECEIVED, kept.sha256, { ...facts, origin: 'received' }),
    ).rejects.toMatchObject({ status: 404 });
  });

  it('forgets that a file was deleted once it could not be fetched again', async () => {
    await uploads.delete(channel, RECEIVED, { forGood: true });
    nowMs += 31 * DAY_MS;
    await sweepMedia(options());
    const rows = await database.pool.query('SELECT 1 FROM media_files WHERE channel_id = $1', [channel]);
    expect(rows.rowCount).toBe(0);
  });

  it('deletes for good in either order: the file arrives first, or the customer deletes first', async () => {
    for (let round = 0; round < 15; round += 1) {
      const id = `jpeg-3eb00000000000000010${String(round).padStart(2, '0')}-c002039eda2fd7`;
      const [removed] = await Promise.all([
        uploads.delete(channel, id, { forGood: true }),
        network.keepReceived(channel, id, fileOf(`round ${round}`), facts).catch(() => undefined),
      ]);
      expect([removed, await bytesOf(id)]).toEqual([true, undefined]);
    }
  });

  it('replaces what an id meant before, and drops bytes that nothing uses then', async () => {
    await network.keepReceived(channel, RECEIVED, fileOf('half'), facts);
    await network.keepReceived(channel, RECEIVED, fileOf('whole'), facts);
    await sweepMedia(options());
    expect(await bytesOf(RECEIVED)).toBe('whole');
    expect(await keysOf(channel)).toHaveLength(1);
  });

  it('remembers the copies of an object per variant, until the object goes', async () => {
    const kept = await uploads.keep(channel, fileOf('copied'), 'uploaded');
    const copy = {
      directPath: '/v/t62/1',
      url: undefined,
      mediaKey: randomBytes(32),
      fileSha256: randomBytes(32),
      fileEncSha256: randomBytes(32),
      fileLength: 6,
      prepared: { width: 1, height: 1 },
      uploadedAtMs: nowMs,
    };
    await network.rememberCopy(kept.objectKey, 'image', { ...copy, directPath: '/v/t62/0' });
    await network.rememberCopy(kept.objectKey, 'image', copy);
    await network.rememberCopy(kept.objectKey, 'document', copy);
    expect(await network.copy(kept.objectKey, 'image')).toEqual(copy);
    await network.forgetCopy(kept.objectKey, 'document');
    expect(await network.copy(kept.objectKey, 'document')).toBeUndefined();
    await uploads.delete(channel, kept.id);
    expect(await network.copy(kept.objectKey, 'image')).toBeUndefined();
    await network.rememberCopy(kept.objectKey, 'image', copy);
    expect(await network.copy(kept.objectKey, 'image')).toBeUndefined();
  });
});
