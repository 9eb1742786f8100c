import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  paginateListObjectsV2,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { type ObjectStore, startObjectStore } from './object-store.js';

const Bucket = 'spec-bucket';
const credentials = { accessKeyId: 'dormouse', secretAccessKey: 'a secret for the spec' };
let dir: string;
let store: ObjectStore;
let client: S3Client;
let nowMs: number | undefined;

function open(): Promise<ObjectStore> {
  const now = (): number => nowMs ?? Date.now();
  return startObjectStore({ dir, port: 0, buckets: [Bucket], durable: true, now, ...credentials });
}

function clientOf(keys: typeof credentials, options: { whenRequired?: boolean } = {}): S3Client {
  const when = options.whenRequired ? 'WHEN_REQUIRED' : 'WHEN_SUPPORTED';
  return new S3Client({
    endpoint: store.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: keys,
    maxAttempts: 1,
    requestChecksumCalculation: when,
    responseChecksumValidation: when,
  });
}

async function refusal(work: Promise<unknown>): Promise<{ code: string; status?: number }> {
  try {
    await work;
  } catch (error) {
    if (error instanceof S3ServiceException) return { code: error.name, status: error.$metadata.httpStatusCode };
    throw error;
  }
  return { code: 'none' };
}

const put = (Key: string, Body: string | Buffer, more: object = {}): Promise<{ ETag?: string }> =>
  client.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
const read = async (Key: string, more: object = {}): Promise<string> => {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, ...more }));
  return (await Body?.transformToString()) ?? '';
};

beforeEach(async () => {
  nowMs = undefined;
  dir = mkdtempSync(join(tmpdir(), 'object-store-'));
  store = await open();
  client = clientOf(credentials);
});

afterEach(async () => {
  client.destroy();
  await store.stop();
  rmSync(dir, { recursive: true, force: true });
});

describe('objects', () => {
  it('gives back what was put, with its headers and metadata, under any key', async () => {
    const key = "a folder/ÄÖ '()!*&<>+=:@~/%41 ?.bin";
    const sent = { ContentType: 'image/png', CacheControl: 'no-store', Metadata: { channel: 'x' } };
    await put(key, 'hello', sent);
    const got = await client.send(new GetObjectCommand({ Bucket, Key: key }));
    expect(await got.Body?.transformToString()).toBe('hello');
    expect(got).toMatchObject({ ...sent, ContentLength: 5, ETag: '"5d41402abc4b2a76b9719d911017c592"' });
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: key }));
    expect(head).toMatchObject({ ...sent, ContentLength: 5 });
  });

  it('keeps objects, and only whole ones, over a restart', async () => {
    await put('kept', 'one');
    await put('kept', 'two');
    await put('deleted', 'x');
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'deleted' }));
    await store.stop();
    store = await open();
    client.destroy();
    client = clientOf(credentials);
    expect(await read('kept')).toBe('two');
    expect(await refusal(read('deleted'))).toEqual({ code: 'NoSuchKey', status: 404 });
    expect(readdirSync(join(dir, Bucket, 'bytes'))).toHaveLength(1);
  });

  it('answers 404 for keys and buckets that are not there; deleting such a key is no error', async () => {
    expect(await refusal(read('none'))).toEqual({ code: 'NoSuchKey', status: 404 });
    const elsewhere = new GetObjectCommand({ Bucket: 'other-bucket', Key: 'none' });
    expect(await refusal(client.send(elsewhere))).toEqual({ code: 'NoSuchBucket', status: 404 });
    expect(await refusal(client.send(new HeadObjectCommand({ Bucket, Key: 'none' })))).toMatchObject({ status: 404 });
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'none' }));
  });

  it('serves ranges', async () => {
    await put('range', '0123456789');
    expect(await read('range', { Range: 'bytes=2-4' })).toBe('234');
    expect(await read('range', { Range: 'bytes=7-' })).toBe('789');
    expect(await read('range', { Range: 'bytes=-3' })).toBe('789');
    expect(await read('range', { Range: 'bytes=8-100' })).toBe('89');
    expect(await refusal(read('range', { Range: 'bytes=10-' }))).toEqual({ code: 'InvalidRange', status: 416 });
    const part = await client.send(new GetObjectCommand({ Bucket, Key: 'range', Range: 'bytes=0-0' }));
    expect(part).toMatchObject({ ContentRange: 'bytes 0-0/10', ContentLength: 1 });
  });

  it.each([false, true])('takes a stream, checksums only when required: %s', async (whenRequired) => {
    const bytes = randomBytes(3_000_001);
    const streaming = clientOf(credentials, { whenRequired });
    const Body = Readable.from([bytes.subarray(0, 10), bytes.subarray(10, 70_000), bytes.subarray(70_000)]);
    await streaming.send(new PutObjectCommand({ Bucket, Key: 'stream', Body, ContentLength: bytes.length }));
    const { Body: body } = await streaming.send(new GetObjectCommand({ Bucket, Key: 'stream' }));
    expect(Buffer.from((await body?.transformToByteArray()) ?? []).equals(bytes)).toBe(true);
    streaming.destroy();
  });

  it('joins a multipart upload', async () => {
    const bytes = randomBytes(12 << 20);
    const upload = new Upload({ client, params: { Bucket, Key: 'parts', Body: Readable.from([bytes]) } });
    const done = await upload.done();
    expect(done.ETag).toMatch(/-3"$/);
    const { Body: body } = await client.send(new GetObjectCommand({ Bucket, Key: 'parts' }));
    expect(Buffer.from((await body?.transformToByteArray()) ?? []).equals(bytes)).toBe(true);
    expect(readdirSync(join(dir, Bucket, 'bytes'))).toHaveLength(1);
  });

  it('copies within the bucket', async () => {
    await put('from', 'copied', { ContentType: 'text/plain' });
    await client.send(new CopyObjectCommand({ Bucket, Key: 'to', CopySource: `${Bucket}/from` }));
    const copy = await client.send(new GetObjectCommand({ Bucket, Key: 'to' }));
    expect(copy.ContentType).toBe('text/plain');
    expect(await copy.Body?.transformToString()).toBe('copied');
  });

  it('deletes many at once', async () => {
    await Promise.all(['a', 'b', '<c&>'].map((key) => put(key, key)));
    const Objects = ['a', '<c&>', 'never there'].map((Key) => ({ Key }));
    const { Deleted } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(Deleted).toHaveLength(3);
    const left = await client.send(new ListObjectsV2Command({ Bucket }));
    expect(left.Contents?.map((one) => one.Key)).toEqual(['b']);
  });
});

describe('conditional writes', () => {
  it('If-None-Match: * lets exactly one of many writers create the object', async () => {
    const attempts = Array.from({ length: 10 }, (_, writer) => put('once', `writer ${writer}`, { IfNoneMatch: '*' }));
    const outcomes = await Promise.all(attempts.map((attempt) => refusal(attempt)));
    expect(outcomes.filter(({ code }) => code === 'none')).toHaveLength(1);
    const refused = outcomes.filter(({ code, status }) => code === 'PreconditionFailed' && status === 412);
    expect(refused).toHaveLength(9);
    expect(await read('once')).toBe(`writer ${outcomes.findIndex(({ code }) => code === 'none')}`);
  });

  it('If-Match replaces only the version it names', async () => {
    const { ETag } = await put('version', 'one');
    expect(await refusal(put('nothing', 'x', { IfMatch: ETag }))).toEqual({ code: 'NoSuchKey', status: 404 });
    await put('version', 'two', { IfMatch: ETag });
    expect(await refusal(put('version', 'three', { IfMatch: ETag }))).toMatchObject({ status: 412 });
    expect(await read('version')).toBe('two');
    expect(readdirSync(join(dir, Bucket, 'bytes'))).toHaveLength(1);
  });

  it('reads obey If-Match and If-None-Match', async () => {
    const { ETag } = await put('read', 'x');
    expect(await refusal(read('read', { IfMatch: '"other"' }))).toMatchObject({ status: 412 });
    const unchanged = await client
      .send(new GetObjectCommand({ Bucket, Key: 'read', IfNoneMatch: ETag }))
      .catch((error: unknown) => error);
    expect(unchanged).toMatchObject({ $metadata: { httpStatusCode: 304 } });
  });
});

describe('listing', () => {
  it('pages through all keys in the order of their bytes', async () => {
    const keys = Array.from({ length: 23 }, (_, index) => `k/${String(index).padStart(2, '0')}`);
    await Promise.all([...keys, 'j', 'l'].map((key) => put(key, key)));
    const seen: (string | undefined)[] = [];
    let pages = 0;
    for await (const page of paginateListObjectsV2({ client, pageSize: 10 }, { Bucket, Prefix: 'k/' })) {
      pages += 1;
      seen.push(...(page.Contents ?? []).map((one) => one.Key));
    }
    expect(pages).toBe(3);
    expect(seen).toEqual(keys);
  });

  it('folds keys with a delimiter, over pages too', async () => {
    await Promise.all(['a/1', 'a/2', 'b', 'c/1', 'c/d/2', 'e'].map((key) => put(key, key)));
    const seen: string[] = [];
    for await (const page of paginateListObjectsV2({ client, pageSize: 1 }, { Bucket, Delimiter: '/' })) {
      seen.push(...(page.CommonPrefixes ?? []).map((one) => one.Prefix ?? ''));
      seen.push(...(page.Contents ?? []).map((one) => one.Key ?? ''));
    }
    expect(seen).toEqual(['a/', 'b', 'c/', 'e']);
    const after = await client.send(new ListObjectsV2Command({ Bucket, StartAfter: 'c/1' }));
    expect(after.Contents?.map((one) => one.Key)).toEqual(['c/d/2', 'e']);
  });
});

describe('who may', () => {
  it('refuses a wrong secret, a wrong key id and no signature at all', async () => {
    const wrongSecret = clientOf({ ...credentials, secretAccessKey: 'another' });
    const attempt = new PutObjectCommand({ Bucket, Key: 'k', Body: 'x' });
    expect(await refusal(wrongSecret.send(attempt))).toEqual({ code: 'SignatureDoesNotMatch', status: 403 });
    const wrongId = clientOf({ ...credentials, accessKeyId: 'another' });
    expect(await refusal(wrongId.send(attempt))).toEqual({ code: 'InvalidAccessKeyId', status: 403 });
    expect((await fetch(`${store.endpoint}/${Bucket}/k`)).status).toBe(403);
    expect(await refusal(read('k'))).toMatchObject({ code: 'NoSuchKey' });
  });

  it('refuses a request signed long ago', async () => {
    nowMs = Date.now() + 16 * 60_000;
    expect(await refusal(put('k', 'x'))).toEqual({ code: 'RequestTimeTooSkewed', status: 403 });
  });

  it('serves signed links until they expire and refuses changed ones', async () => {
    await put('linked file', 'through a link');
    const options = { expiresIn: 60 };
    const command = new GetObjectCommand({
      Bucket,
      Key: 'linked file',
      ResponseContentDisposition: 'attachment; filename="ä"',
    });
    const link = await getSignedUrl(client, command, options);
    const answer = await fetch(link);
    expect(await answer.text()).toBe('through a link');
    expect(answer.headers.get('content-disposition')).toContain('attachment');
    expect((await fetch(link.replace('linked%20file', 'other'))).status).toBe(403);
    expect((await fetch(link.replace('X-Amz-Expires=60', 'X-Amz-Expires=600'))).status).toBe(403);
    nowMs = Date.now() + 61_000;
    const late = await fetch(link);
    expect([late.status, await late.text()]).toEqual([403, expect.stringContaining('expired')]);
  });

  it('takes an upload through a signed link', async () => {
    const link = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: 'up' }), { expiresIn: 60 });
    const answer = await fetch(link, { method: 'PUT', body: 'uploaded' });
    expect(answer.status).toBe(200);
    expect(await read('up')).toBe('uploaded');
  });

  it('refuses a body that is not the one that was signed', async () => {
    client.middlewareStack.add(
      (next) => (args) => {
        Object.assign(args.request as object, { body: 'exchanged' });
        return next(args);
      },
      { step: 'deserialize', priority: 'low' },
    );
    const attempt = put('k', 'original.');
    expect((await refusal(attempt)).code).toMatch(/BadDigest|XAmzContentSHA256Mismatch/);
    expect(readdirSync(join(dir, Bucket, 'bytes'))).toEqual([]);
  });
});
