import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { isObjectFailure, ObjectStorage } from './index.js';

let store: TestBucket;
let objects: ObjectStorage;

beforeAll(async () => {
  store = await createTestBucket();
  objects = new ObjectStorage(store);
});

afterAll(async () => {
  objects.close();
  await store.drop();
});

function* pieces(bytes: Buffer, size = 64 * 1024): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

const failure = (error: unknown) => (isObjectFailure(error, 'conflict') ? 'conflict' : String(error));

describe('writing and reading', () => {
  it('returns the bytes, size and type that were put', async () => {
    await objects.put('a/ÿ name?.txt', Buffer.from('hello'), { contentType: 'text/plain' });
    const found = await objects.get('a/ÿ name?.txt');
    expect((await buffer(found.stream)).toString()).toBe('hello');
    expect(found).toMatchObject({ size: 5, totalSize: 5, contentType: 'text/plain' });
    expect(found.range).toBeUndefined();
  });

  it('streams a body of known size', async () => {
    const bytes = randomBytes(3 * 1024 * 1024 + 17);
    await objects.put('known', () => Readable.from(pieces(bytes)), { size: bytes.length });
    expect((await buffer((await objects.get('known')).stream)).equals(bytes)).toBe(true);
  });

  it('streams a body of unknown size in parts', async () => {
    const bytes = randomBytes(12 * 1024 * 1024 + 5);
    await objects.put('parts', () => Readable.from(pieces(bytes)), { contentType: 'video/mp4' });
    const found = await objects.get('parts');
    expect(
      createHash('sha256')
        .update(await buffer(found.stream))
        .digest('hex'),
    ).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(found.contentType).toBe('video/mp4');
  });

  it('writes nothing when the source breaks, and throws its error without trying again', async () => {
    let opened = 0;
    const broken = () => {
      opened += 1;
      return new Readable({
        read() {
          this.destroy(new Error('source broke'));
        },
      });
    };
    await expect(objects.put('broken', broken, { size: 100 })).rejects.toThrow('source broke');
    await expect(objects.put('broken', broken)).rejects.toThrow('source broke');
    expect(opened).toBe(2);
    expect(await objects.head('broken')).toBeUndefined();
  });

  it('reads a range and the last bytes, and names which they are', async () => {
    await objects.put('ranged', Buffer.from('0123456789'));
    const middle = await objects.get('ranged', { range: { start: 2, end: 4 } });
    expect((await buffer(middle.stream)).toString()).toBe('234');
    expect(middle).toMatchObject({ size: 3, totalSize: 10, range: { start: 2, end: 4 } });
    const tail = await objects.get('ranged', { range: { last: 3 } });
    expect((await buffer(tail.stream)).toString()).toBe('789');
    await expect(objects.get('ranged', { range: { start: 10 } })).rejects.toMatchObject({ failure: 'range' });
  });

  it('distinguishes a missing object from a missing bucket', async () => {
    await expect(objects.get('nowhere')).rejects.toMatchObject({ failure: 'missing' });
    expect(await objects.head('nowhere')).toBeUndefined();
    const elsewhere = new ObjectStorage({ ...store, bucket: 'no-such-bucket' });
    await expect(elsewhere.get('x')).rejects.toMatchObject({ failure: 'refused' });
    await expect(elsewhere.reachable()).rejects.toThrow();
    elsewhere.close();
    await objects.reachable();
  });

  it('makes its bucket once, also when several are at it', async () => {
    const fresh = new ObjectStorage({ ...store, bucket: 'made-by-many' });
    const made = await Promise.all([fresh.ensureBucket(), fresh.ensureBucket(), fresh.ensureBucket()]);
    expect(made.filter((now) => now)).toHaveLength(1);
    await fresh.reachable();
    expect(await fresh.ensureBucket()).toBe(false);
    fresh.close();
    const stranger = new ObjectStorage({
      ...store,
      credentials: { accessKeyId: 'nobody', secretAccessKey: 'guessed' },
    });
    await expect(stranger.ensureBucket()).rejects.toMatchObject({ failure: 'refused' });
    stranger.close();
  });
});

describe('conditional writes', () => {
  it('lets exactly one of many first writers through', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, (_, writer) => objects.put('once', Buffer.from(`${writer}`), { ifAbsent: true })),
    );
    expect(outcomes.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    for (const one of outcomes) if (one.status === 'rejected') expect(failure(one.reason)).toBe('conflict');
  });

  it('refuses to write over a version that is not the named one', async () => {
    const first = await objects.put('versioned', Buffer.from('1'));
    const second = await objects.put('versioned', Buffer.from('2'), { ifMatch: first.etag });
    await expect(objects.put('versioned', Buffer.from('3'), { ifMatch: first.etag })).rejects.toMatchObject({
      failure: 'conflict',
    });
    expect((await objects.head('versioned'))?.etag).toBe(second.etag);
  });
});

describe('listing and deleting', () => {
  it('lists by prefix across pages, and deletes many keys, missing ones included', async () => {
    const keys = Array.from({ length: 7 }, (_, index) => `list/${index} &<>"'`);
    for (const key of keys) await objects.put(key, Buffer.from('x'));
    const listed: string[] = [];
    for await (const one of objects.list('list/', { pageSize: 3 })) listed.push(one.key);
    expect(listed).toEqual(keys);
    await objects.delete([...keys.slice(0, 6), 'list/never']);
    const left: string[] = [];
    for await (const one of objects.list('list/')) left.push(one.key);
    expect(left).toEqual(keys.slice(6));
  });
});

describe('links', () => {
  it('opens without credentials under the given name, and not when forged', async () => {
    await objects.put('linked', Buffer.from('bytes'), { contentType: 'application/pdf' });
    const link = await objects.signGet('linked', { expiresInS: 60, downloadName: 'März.pdf' });
    const opened = await fetch(link);
    expect(opened.status).toBe(200);
    expect(await opened.text()).toBe('bytes');
    expect(opened.headers.get('content-disposition')).toContain(`filename*=UTF-8''M%C3%A4rz.pdf`);
    const forged = await fetch(link.replace('/linked', '/other'));
    expect(forged.status).toBe(403);
  });
});

describe('with the storage away', () => {
  let server: Server;
  let requests = 0;

  beforeAll(async () => {
    server = createServer((request, response) => {
      requests += 1;
      request.resume();
      response.writeHead(503).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('tries a bounded number of times, opening the stream anew, then fails as away', async () => {
    const port = (server.address() as AddressInfo).port;
    const away = new ObjectStorage({ ...store, endpoint: `http://127.0.0.1:${port}`, attempts: 3 });
    let opened = 0;
    const body = () => {
      opened += 1;
      return Readable.from([Buffer.from('ab')]);
    };
    await expect(away.put('k', body, { size: 2 })).rejects.toMatchObject({ failure: 'away' });
    expect([opened, requests]).toEqual([3, 3]);
    away.close();
  });

  it('stops at once when the caller gives up', async () => {
    const port = (server.address() as AddressInfo).port;
    const away = new ObjectStorage({ ...store, endpoint: `http://127.0.0.1:${port}`, attempts: 1_000 });
    await expect(away.get('k', { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({ name: 'TimeoutError' });
    away.close();
  });

  it('fails as away when nothing listens', async () => {
    const away = new ObjectStorage({ ...store, endpoint: 'http://127.0.0.1:9', attempts: 2 });
    await expect(away.head('k')).rejects.toMatchObject({ failure: 'away' });
    away.close();
  });
});
