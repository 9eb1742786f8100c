/** How much a channel may store, and how many of its files may be on their way at once. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { RunningEdge, type TestChannel } from '../test-edge.js';
import { form, json, PNG, sendEndlessly } from './test-requests.js';

const MIB = 1024 * 1024;
const AT_ONCE = 2;

let bucket: TestBucket;
let spool: string;
let edge: RunningEdge;
/** One that lets files wait for a moment only. */
let impatient: RunningEdge;
let channel: TestChannel;

beforeAll(async () => {
  bucket = await createTestBucket();
  spool = await mkdtemp(join(tmpdir(), 'dormouse-limits-'));
  const switches = {
    S3_ENDPOINT: bucket.endpoint,
    S3_BUCKET: bucket.bucket,
    S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
    SPOOL_DIRECTORY: spool,
    MEDIA_PER_CHANNEL_BYTES: String(2 * MIB),
    UPLOADS_AT_ONCE: String(AT_ONCE),
    RATE_OTHER: 'off',
    RATE_SENDS: 'off',
  };
  [edge, impatient] = await Promise.all([
    RunningEdge.start({ ...switches, UPLOAD_WAIT_MS: '60000' }),
    RunningEdge.start({ ...switches, UPLOAD_WAIT_MS: '50' }),
  ]);
  await Promise.all([edge.ready(), impatient.ready()]);
}, 60_000);

afterAll(async () => {
  await Promise.all([edge.stop(), impatient.stop()]);
  await bucket.drop();
  await rm(spool, { recursive: true, force: true });
}, 30_000);

beforeEach(async () => {
  channel = await edge.channel();
});

afterEach(async () => {
  expect(await readdir(spool)).toEqual([]);
});

const large = () => Buffer.concat([PNG, randomBytes(1.5 * MIB)]);

async function ask(
  path: string,
  given: { body: RequestInit['body']; headers?: Record<string, string> },
  { url } = edge,
) {
  const headers = { authorization: `Bearer ${channel.token}`, ...given.headers };
  const answer = await fetch(`${url}${path}`, { method: 'POST', body: given.body, headers });
  const { id, error } = (await answer.json()) as { id?: string; error?: { message: string; details: string } };
  return { status: answer.status, id, error, headers: answer.headers };
}

const raw = (body: Buffer) => ({ body, headers: { 'content-type': 'image/png' } });

describe('a channel whose storage is full', () => {
  it('gets an error with what to do, in whatever form the file comes, and can store again once a file is deleted', async () => {
    const worker = edge.worker(channel, ({ input }) => ({ ok: true, result: { sent: true, message: input } }));
    const { id } = await ask('/media', raw(large()));
    const base64 = large().toString('base64');
    const refused = [
      await ask('/media', raw(large())),
      await ask('/media', json({ media: base64 })),
      await ask('/messages/image', json({ to: '15550001111', media: base64 })),
      await ask('/messages/document', { body: form({ media: new Blob([large()]), to: '15550001111' }) }),
    ];
    for (const { status, error } of refused) {
      expect([status, error?.message]).toEqual([413, 'the storage of the channel is full']);
      expect(error?.details).toMatch(/^media: .* 2097152 bytes .*DELETE \/media\/\{MediaID\}.*expire/);
    }
    // What needs no room goes on: a file that is there, and one that fits.
    expect((await ask('/messages/image', json({ to: '15550001111', media: id }))).status).toBe(200);
    expect((await ask('/media', raw(PNG))).status).toBe(200);
    expect((await edge.ask(`DELETE /media/${id}`, { token: channel.token })).status).toBe(200);
    expect((await ask('/media', raw(large()))).status).toBe(200);
    await worker.close();
  }, 30_000);
});

describe('files of a channel that arrive at once', () => {
  /** Uploads that have begun and end only when the spec ends them. */
  const uploads: { request: ClientRequest; answer: Promise<number> }[] = [];
  const begin = ({ url }: RunningEdge) => {
    const asking = request(`${url}/media`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${channel.token}`,
        'content-type': 'image/png',
        'transfer-encoding': 'chunked',
      },
    });
    const answer = new Promise<number>((resolve, reject) => {
      asking.on('error', reject).on('response', (got: IncomingMessage) => {
        got.resume().on('end', () => resolve(got.statusCode ?? 0));
      });
    });
    asking.write(large());
    uploads.push({ request: asking, answer });
  };
  /** How much lies in the spool, once nothing is added to it any more. */
  const spooled = async (files: number) => {
    for (;;) {
      const names = await readdir(spool);
      const sizes = await Promise.all(names.map(async (name) => (await stat(join(spool, name))).size));
      if (names.length > files || (names.length === files && sizes.every((size) => size > MIB))) return names.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  afterEach(() => {
    uploads.splice(0);
  });

  it('wait beyond a few with their bodies unread, are stored in their turn, and hold up no other channel', async () => {
    for (let file = 0; file < AT_ONCE; file += 1) begin(edge);
    expect(await spooled(AT_ONCE)).toBe(AT_ONCE);
    begin(edge);
    const other = await edge.channel();
    const small = await edge.ask('POST /media', { token: other.token, body: { media: PNG.toString('base64') } });
    expect(small.status).toBe(200);
    // The other channel's file came later and is done: the third of this one had its chance to reach the spool.
    expect(await spooled(AT_ONCE)).toBe(AT_ONCE);
    uploads[0]?.request.end();
    expect(await uploads[0]?.answer).toBe(200);
    expect(await spooled(AT_ONCE)).toBe(AT_ONCE);
    for (const { request: asking } of uploads.slice(1)) asking.destroy();
    await Promise.allSettled(uploads.map(({ answer }) => answer));
    while ((await readdir(spool)).length > 0) await new Promise((resolve) => setImmediate(resolve));
  }, 30_000);

  it('are refused with 429 and Retry-After when no place becomes free', async () => {
    for (let file = 0; file < AT_ONCE; file += 1) begin(impatient);
    await spooled(AT_ONCE);
    const authorization = `Bearer ${channel.token}`;
    const part = '--b\r\ncontent-disposition: form-data; name="media"; filename="a"\r\n\r\n';
    const bodies: [path: string, type: string, start: Buffer][] = [
      ['/media', 'image/png', PNG],
      ['/messages/image', 'application/json', Buffer.from('{"to":"15550001111","media":"')],
      ['/messages/image', 'multipart/form-data; boundary=b', Buffer.concat([Buffer.from(part), PNG])],
    ];
    // They never end: an edge that read one for longer than it waits would answer 413.
    for (const [path, type, start] of bodies) {
      const { got } = await sendEndlessly(`${impatient.url}${path}`, { authorization, 'content-type': type }, start);
      expect(got).toMatch(/^429 .*media: more than 2 files of this channel are arriving at once: send fewer/);
    }
    const { status, headers } = await ask('/media', json({ media: PNG.toString('base64') }), impatient);
    expect([status, headers.get('retry-after')]).toEqual([429, '5']);
    // Sends that need no place have none to wait for.
    const worker = edge.worker(channel, () => ({ ok: true, result: { sent: true } }));
    const text = await impatient.ask('POST /messages/text', {
      token: channel.token,
      body: { to: '15550001111', body: 'hello' },
    });
    expect(text.status).toBe(200);
    for (const { request: asking } of uploads) asking.destroy();
    await Promise.allSettled(uploads.map(({ answer }) => answer));
    await worker.close();
    while ((await readdir(spool)).length > 0) await new Promise((resolve) => setImmediate(resolve));
  }, 30_000);
});
