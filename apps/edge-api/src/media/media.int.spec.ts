import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toMediaId, type MediaFilesList } from '@dormouse/gateway-contract';
import type { ReceivedCommand } from '@dormouse/queues';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { form, json, PNG, sendEndlessly, sendFirstReadLater } from './test-requests.js';
import { RunningEdge, type TestChannel } from '../test-edge.js';

const KIB = 1024;
const LIMITS = { image: 64 * KIB, document: 256 * KIB, video: 128 * KIB, sticker: 16 * KIB };
const MEDIA_ID = /^[a-z0-9]+-[0-9a-f]{32}-[0-9a-f]{14}$/;

let bucket: TestBucket;
let spool: string;
let edge: RunningEdge;
let channel: TestChannel;
let files: Server;
let fileUrl: string;

beforeAll(async () => {
  bucket = await createTestBucket();
  spool = await mkdtemp(join(tmpdir(), 'dormouse-edge-spool-'));
  edge = await RunningEdge.start({
    S3_ENDPOINT: bucket.endpoint,
    S3_BUCKET: bucket.bucket,
    S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
    SPOOL_DIRECTORY: spool,
    MEDIA_LIMITS: JSON.stringify(LIMITS),
    ALLOW_LOOPBACK_DOWNLOADS: 'true',
    RATE_OTHER: 'off',
    RATE_SENDS: 'off',
  });
  await edge.ready();
  channel = await edge.channel();
  files = createServer((asked, reply) => {
    if (asked.url === '/gone') return reply.writeHead(404).end();
    if (asked.url === '/inside') return reply.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
    return reply.writeHead(200, { 'content-type': 'text/html' }).end(PNG);
  });
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  fileUrl = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
}, 60_000);

afterAll(async () => {
  files.close();
  await edge.stop();
  await bucket.drop();
  await rm(spool, { recursive: true, force: true });
}, 30_000);

afterEach(async () => {
  expect(await readdir(spool)).toEqual([]);
});

interface Got {
  status: number;
  headers: Headers;
  bytes: Buffer;
  json: { id?: string; media?: { id: string }[]; error?: { code: number; details: string } };
}

async function ask(
  route: string,
  options: { body?: RequestInit['body']; headers?: Record<string, string> } = {},
): Promise<Got> {
  const [method, path] = route.split(' ');
  const response = await fetch(`${edge.url}${path}`, {
    method,
    body: options.body,
    headers: { authorization: `Bearer ${channel.token}`, ...options.headers },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const json = (isJson ? JSON.parse(bytes.toString()) : {}) as Got['json'];
  return { status: response.status, headers: response.headers, bytes, json };
}

async function uploaded(bytes: Buffer, headers: Record<string, string> = { 'content-type': 'image/png' }) {
  const { status, json: answer } = await ask('POST /media', { body: bytes, headers });
  expect([status, answer.error]).toEqual([200, undefined]);
  return answer.id ?? '';
}

describe('POST /media', () => {
  it('takes a raw body of any type, by its content', async () => {
    const { status, json: answer } = await ask('POST /media', { body: PNG, headers: { 'content-type': 'text/plain' } });
    expect(status).toBe(200);
    expect(answer.id).toMatch(MEDIA_ID);
    expect(answer).toEqual({ media: [{ id: answer.id }], id: answer.id });
    expect(answer.id).toMatch(/^png-/);
  });

  it.each([
    ['a form', () => ({ body: form({ media: new Blob([PNG]) }) })],
    ['a form whose only file has another name', () => ({ body: form({ file: new Blob([PNG]) }) })],
    ['base64', () => json({ media: PNG.toString('base64') })],
    ['a data: URI', () => json({ media: `data:image/png;base64,${PNG.toString('base64')}` })],
    ['a URL', () => json({ media: `${fileUrl}/a.png` })],
  ])('takes %s and gives the same bytes back', async (_form, given) => {
    const { status, json: answer } = await ask('POST /media', given());
    expect([status, answer.error]).toEqual([200, undefined]);
    const got = await ask(`GET /media/${answer.id}`);
    expect(got.bytes.equals(PNG)).toBe(true);
    expect(got.headers.get('content-type')).toBe('image/png');
  });

  it.each([
    ['an empty body', () => ({ body: Buffer.alloc(0), headers: { 'content-type': 'image/png' } }), /^media: /],
    ['an empty JSON body', () => json({}), /^media: /],
    ['a media id', () => json({ media: 'png-00000000000000000000000000abc123-000014c0fb69ad' }), /^media: /],
    ['a form without a file', () => ({ body: form({ filename: 'x' }) }), /^media: /],
    ['a form that is none', () => ({ body: 'x', headers: { 'content-type': 'multipart/form-data' } }), /^body: /],
    ['two files', () => ({ body: form({ a: new Blob([PNG]), b: new Blob([PNG]) }) }), /one file per call/],
    ['a URL that answers 404', () => json({ media: `${fileUrl}/gone` }), /^media: .*404/],
    ['a URL that leads to metadata', () => json({ media: `${fileUrl}/inside` }), /^media: .*not public/],
    ['a URL of a private address', () => json({ media: 'http://10.0.0.1/a.png' }), /^media: .*not public/],
  ])('refuses %s with 400', async (_what, given, details) => {
    const { status, json: answer } = await ask('POST /media', given());
    expect([status, answer.error?.details]).toEqual([400, expect.stringMatching(details)]);
  });

  it('refuses a form as soon as it cannot be taken, and leaves no connection behind', async () => {
    const other = await RunningEdge.start();
    const part = '--b\r\ncontent-disposition: form-data; name="x"\r\n\r\ny\r\n';
    const headers = {
      authorization: `Bearer ${channel.token}`,
      'content-type': 'multipart/form-data; boundary=b',
    };
    const { got } = await sendEndlessly(`${other.url}/media`, headers, Buffer.from(part.repeat(250)));
    expect(got).toMatch(/^400 .*too many parts/);
    await other.stop(); // ends once every connection has
  }, 30_000);

  it('refuses a form that breaks off in the middle, and keeps nothing of it', async () => {
    const boundary = 'x';
    const start = `--${boundary}\r\ncontent-disposition: form-data; name="media"; filename="a.png"\r\n\r\n`;
    const { status, json: answer } = await ask('POST /media', {
      body: Buffer.concat([Buffer.from(start), PNG]),
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    });
    expect([status, answer.error?.details]).toEqual([400, expect.stringMatching(/^body: /)]);
  });
});

describe('limits', () => {
  const endless = (path: string, headers: Record<string, string>, start = PNG) =>
    sendEndlessly(`${edge.url}${path}`, { authorization: `Bearer ${channel.token}`, ...headers }, start);

  it('answers 413 with kind and limit while the body is still coming', async () => {
    const { got, sent } = await endless('/media', { 'content-type': 'image/png' });
    expect(got).toContain(`413 `);
    expect(got).toContain(`image: larger than ${LIMITS.image} bytes`);
    expect(sent).toBeLessThan(8 * 1024 * KIB);
  });

  it('answers 413 for the file of a form, by the kind of the send', async () => {
    const head = Buffer.concat([
      Buffer.from('--b\r\ncontent-disposition: form-data; name="media"; filename="a"\r\n\r\n'),
      PNG,
    ]);
    const { got } = await endless('/messages/sticker', { 'content-type': 'multipart/form-data; boundary=b' }, head);
    expect(got).toContain(`sticker: larger than ${LIMITS.sticker} bytes`);
  });

  it('answers 413 for base64 in JSON that cannot fit', async () => {
    const { got } = await endless(
      '/messages/image',
      { 'content-type': 'application/json' },
      Buffer.from('{"to":"15550001111","media":"'),
    );
    expect(got).toContain(`image: larger than ${LIMITS.image} bytes`);
  });

  it('answers 413 for what is announced as too large, unread', async () => {
    const asked = (path: string, headers: Record<string, string>) =>
      new Promise<string>((resolve, reject) => {
        const asking = request(`${edge.url}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${channel.token}`, 'content-length': '999999999', ...headers },
        });
        asking.on('response', (answer: IncomingMessage) => {
          answer.setEncoding('utf8').on('data', (text: string) => resolve(`${answer.statusCode} ${text}`));
        });
        asking.on('error', reject);
        asking.flushHeaders();
      });
    expect(await asked('/media', { 'content-type': 'image/png' })).toMatch(
      new RegExp(`^413 .*image: larger than ${LIMITS.image} bytes`),
    );
    expect(await asked('/messages/video', { 'content-type': 'application/json' })).toMatch(
      new RegExp(`^413 .*video: larger than ${LIMITS.video} bytes`),
    );
  });

  it.each([
    ['a file', '/media', 'image/png', PNG],
    ['base64', '/messages/image', 'application/json', Buffer.from('{"to":"15550001111","media":"')],
  ])('reaches a client that reads nothing before it has sent everything: %s', async (_what, path, type, start) => {
    const headers = { authorization: `Bearer ${channel.token}`, 'content-type': type };
    const pieces = [start, ...Array.from({ length: 512 }, () => Buffer.alloc(16 * KIB, 'a'))];
    expect(await sendFirstReadLater(`${edge.url}${path}`, headers, pieces)).toMatch(/^HTTP\/1.1 413 /);
  });

  it('reaches common clients as well, which send first and read later', async () => {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const { status } = await ask('POST /media', {
        body: Buffer.concat([PNG, Buffer.alloc(1024 * KIB)]),
        headers: { 'content-type': 'image/png' },
      });
      expect(status).toBe(413);
    }
  });

  it('holds a media id to the limit of its use', async () => {
    const id = await uploaded(Buffer.concat([PNG, randomBytes(20 * KIB)]));
    const { status, json: answer } = await ask('POST /messages/sticker', json({ to: '15550001111', media: id }));
    expect([status, answer.error?.details]).toEqual([413, `sticker: larger than ${LIMITS.sticker} bytes`]);
  });
});

describe('GET /media/{MediaID}', () => {
  const bytes = Buffer.concat([PNG, randomBytes(10_000)]);
  let id: string;

  beforeAll(async () => {
    id = await uploaded(bytes, {
      'content-type': 'image/png',
      'content-disposition': `attachment; filename*=UTF-8''..%2F..%2F%D0%BA%D0%BE%D1%82.png`,
    });
  });

  it('gives bytes, type, length and a safe name', async () => {
    const { status, headers, bytes: got } = await ask(`GET /media/${id}`);
    expect(status).toBe(200);
    expect(got.equals(bytes)).toBe(true);
    expect(headers.get('content-length')).toBe(String(bytes.length));
    expect(headers.get('accept-ranges')).toBe('bytes');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="file.png"; filename*=UTF-8''%D0%BA%D0%BE%D1%82.png`,
    );
  });

  it('gives parts', async () => {
    const part = await ask(`GET /media/${id}`, { headers: { range: 'bytes=100-199' } });
    expect(part.status).toBe(206);
    expect(part.headers.get('content-range')).toBe(`bytes 100-199/${bytes.length}`);
    expect(part.bytes.equals(bytes.subarray(100, 200))).toBe(true);
    const end = await ask(`GET /media/${id}`, { headers: { range: 'bytes=-5' } });
    expect(end.bytes.equals(bytes.subarray(-5))).toBe(true);
    const outside = await ask(`GET /media/${id}`, { headers: { range: 'bytes=999999-' } });
    expect([outside.status, outside.headers.get('content-range')]).toEqual([416, `bytes */${bytes.length}`]);
    const changed = await ask(`GET /media/${id}`, { headers: { range: 'bytes=0-1', 'if-range': '"other"' } });
    expect(changed.status).toBe(200);
  });

  it.each(['png-00000000000000000000000000abc123-000014c0fb69ad', 'x', '..%2F..%2Fetc'])(
    'is 404 for %s',
    async (other) => {
      const { status, json: answer } = await ask(`GET /media/${other}`);
      expect([status, answer.error?.details]).toEqual([404, 'MediaID: no such media']);
    },
  );

  it("is 404 for another channel's file", async () => {
    const other = await edge.channel();
    const { status } = await edge.ask(`GET /media/${id}`, { token: other.token });
    expect(status).toBe(404);
  });

  it('has the worker fetch the file of a received message, and is 404 when the worker answers so', async () => {
    const messageId = 'AAAAAAAA-gICAgICA';
    const mediaId = toMediaId('jpeg', messageId);
    const image = { id: mediaId, mime_type: 'image/jpeg', file_size: 5 };
    await insertMessage(messageId, image);
    const asked: ReceivedCommand[] = [];
    const worker = edge.worker(channel, (command) => {
      asked.push(command);
      return { ok: false, error: { status: 404, message: 'not found', details: 'the phone no longer has the file' } };
    });
    const { status } = await ask(`GET /media/${mediaId}`);
    await worker.close();
    expect(asked.map(({ name, input }) => [name, input])).toEqual([['media.fetch', { mediaId }]]);
    expect(status).toBe(404);
  });

  async function insertMessage(id: string, image: Record<string, string | number>): Promise<void> {
    const timestamp = Math.floor(Date.now() / 1_000);
    await edge.database.prisma.message.create({
      data: {
        channelId: channel.id,
        id,
        chatId: '15550001111@s.whatsapp.net',
        type: 'image',
        fromMe: false,
        keyId: '3EB0',
        keyRemote: '15550001111@s.whatsapp.net',
        timestamp,
        source: 'mobile',
        content: { image },
      },
    });
  }
});

describe('GET and DELETE /media', () => {
  it('lists uploads by time, in pages, and forgets the deleted', async () => {
    channel = await edge.channel();
    const ids = [await uploaded(randomBytes(10)), await uploaded(randomBytes(11)), await uploaded(randomBytes(12))];
    const list = async (query = '') => (await ask(`GET /media${query}`)).json as unknown as MediaFilesList;
    const all = await list();
    expect(all).toMatchObject({ count: 100, total: 3, offset: 0 });
    expect(all.files.map(({ id }) => id).sort()).toEqual([...ids].sort());
    const page = await list('?count=1&offset=1&sort=asc');
    expect(page).toMatchObject({ count: 1, total: 3, offset: 1 });
    expect(page.files).toHaveLength(1);
    const link = all.files[0]?.link ?? '';
    expect((await fetch(link)).status).toBe(200);
    expect((await ask('GET /media?count=0')).status).toBe(400);
    expect((await ask(`DELETE /media/${ids[0]}`)).json).toEqual({ success: true });
    expect((await ask(`DELETE /media/${ids[0]}`)).status).toBe(404);
    expect((await ask(`GET /media/${ids[0]}`)).status).toBe(404);
    expect((await list()).total).toBe(2);
  });
});

describe('sends', () => {
  const sent = (command: ReceivedCommand) => ({ ok: true, result: { sent: true, message: command.input } }) as const;

  it.each(['image', 'video', 'audio', 'voice', 'document', 'sticker'])(
    'of %s carry the id of a stored file, whatever form it came in',
    async (kind) => {
      const received: ReceivedCommand[] = [];
      const worker = edge.worker(channel, (command) => {
        received.push(command);
        return sent(command);
      });
      const given = [
        json({ to: '15550001111', media: PNG.toString('base64'), mime_type: 'image/png' }),
        { body: form({ media: new Blob([PNG]), to: '15550001111' }, 'image.png') },
        json({ to: '15550001111', media: `${fileUrl}/b.png` }),
        json({ to: '15550001111', media: await uploaded(PNG) }),
      ];
      for (const body of given) expect((await ask(`POST /messages/${kind}`, body)).status).toBe(200);
      await worker.close();
      expect(received.map(({ name }) => name)).toEqual(
        given.map(() => `messages.send${kind[0]?.toUpperCase()}${kind.slice(1)}`),
      );
      for (const { input } of received) expect((input as { media: string }).media).toMatch(MEDIA_ID);
    },
    30_000,
  );

  it('are refused before anything is kept: 400 for a field, 404 for an unknown id, 503 while not linked', async () => {
    const missing = await ask('POST /messages/image', json({ media: PNG.toString('base64') }));
    expect([missing.status, missing.json.error?.details]).toEqual([400, expect.stringMatching(/^to: /)]);
    const unknown = { to: '15550001111', media: 'png-00000000000000000000000000abc123-000014c0fb69ad' };
    const nothing = await ask('POST /messages/image', json(unknown));
    expect([nothing.status, nothing.json.error?.details]).toEqual([404, 'media: no such media id']);
    const { token } = await edge.channel({ linked: false });
    const unlinked = await edge.ask('POST /messages/image', {
      token,
      body: { to: '15550001111', media: PNG.toString('base64') },
    });
    expect(unlinked.status).toBe(503);
  });
});

describe('without the object storage', () => {
  it('answers 502 and keeps nothing', async () => {
    const alone = await RunningEdge.start({ SPOOL_DIRECTORY: spool, S3_ACCESS_KEY_ID: 'x', S3_SECRET_ACCESS_KEY: 'y' });
    try {
      await alone.ready();
      const { token, id } = await alone.channel();
      const refused = await alone.ask('POST /media', { token, body: { media: PNG.toString('base64') } });
      expect([refused.status, refused.error.details]).toEqual([502, 'the media storage is not reachable']);
      const kept = await alone.database.pool.query('SELECT 1 FROM media_files WHERE channel_id = $1', [id]);
      expect(kept.rowCount).toBe(0);
    } finally {
      await alone.stop();
    }
  }, 60_000);
});
