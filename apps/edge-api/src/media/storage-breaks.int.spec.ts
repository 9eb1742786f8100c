import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReceivedCommand } from '@dormouse/queues';
import { FaultProxy } from '@dormouse/stack/test-fault-proxy';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { RunningEdge, type TestChannel } from '../test-edge.js';

const BYTES = randomBytes(600_000);
/** In the middle of the file, behind the heads of requests and answers. */
const MIDDLE = 200_000;

let bucket: TestBucket;
let proxy: FaultProxy;
let spool: string;
let edge: RunningEdge;
let channel: TestChannel;
let received: ReceivedCommand[];

beforeAll(async () => {
  bucket = await createTestBucket();
  proxy = await FaultProxy.to(bucket.endpoint);
  spool = await mkdtemp(join(tmpdir(), 'dormouse-edge-spool-'));
  edge = await RunningEdge.start({
    S3_ENDPOINT: proxy.url,
    S3_BUCKET: bucket.bucket,
    S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
    SPOOL_DIRECTORY: spool,
    RATE_OTHER: 'off',
    RATE_SENDS: 'off',
  });
  await edge.ready();
}, 60_000);

afterAll(async () => {
  await edge.stop();
  await proxy.close();
  await bucket.drop();
  await rm(spool, { recursive: true, force: true });
}, 30_000);

beforeEach(async () => {
  channel = await edge.channel();
  received = [];
  edge.worker(channel, (command) => {
    received.push(command);
    return { ok: true, result: { sent: true, message: command.input } };
  });
}, 30_000);

afterEach(async () => {
  proxy.breakAfter(undefined);
  expect(await readdir(spool)).toEqual([]);
});

const document = () => ({ to: '15550001111', media: BYTES.toString('base64'), mime_type: 'application/octet-stream' });
const ask = (route: string, body?: unknown) => edge.ask(route, { token: channel.token, body });

async function filesOf({ id }: TestChannel): Promise<number> {
  const { rowCount } = await edge.database.pool.query('SELECT 1 FROM media_files WHERE channel_id = $1', [id]);
  return rowCount ?? 0;
}

/** How a download ended, and how much of it came. */
function download(id: string): Promise<{ status: number; got: number; whole: boolean }> {
  return new Promise((resolve, reject) => {
    const asking = request(
      `${edge.url}/media/${id}`,
      { headers: { authorization: `Bearer ${channel.token}` } },
      (answer: IncomingMessage) => {
        let got = 0;
        answer.on('data', (piece: Buffer) => (got += piece.length));
        answer.on('error', () => undefined);
        answer.on('close', () => resolve({ status: answer.statusCode ?? 0, got, whole: answer.complete }));
      },
    );
    asking.on('error', reject);
    asking.end();
  });
}

describe('the object storage dying in the middle of', () => {
  it('an upload is 502; nothing of it is kept, and the same upload works later', async () => {
    proxy.breakAfter(MIDDLE);
    const { media } = document();
    const refused = await ask('POST /media', { media, mime_type: 'application/octet-stream' });
    expect([refused.status, refused.error.details]).toEqual([502, 'the media storage is not reachable']);
    expect(await filesOf(channel)).toBe(0);
    proxy.breakAfter(undefined);
    expect((await ask('POST /media', { media, mime_type: 'application/octet-stream' })).status).toBe(200);
    expect(await filesOf(channel)).toBe(1);
  }, 60_000);

  it('a send is 502 and no command is sent; its repetition is sent once', async () => {
    proxy.breakAfter(MIDDLE);
    const refused = await ask('POST /messages/document', document());
    expect([refused.status, refused.error.details]).toEqual([502, 'the media storage is not reachable']);
    expect([received, await filesOf(channel)]).toEqual([[], 0]);
    proxy.breakAfter(undefined);
    expect((await ask('POST /messages/document', document())).status).toBe(200);
    expect([received.length, await filesOf(channel)]).toEqual([1, 1]);
  }, 60_000);

  it('a download breaks the answer off, so that a part is never taken for the whole', async () => {
    const { id } = (await ask('POST /media', document())).json as { id: string };
    proxy.breakAfter(MIDDLE);
    const part = await download(id);
    expect([part.status, part.whole]).toEqual([200, false]);
    expect(part.got).toBeLessThan(BYTES.length);
    proxy.breakAfter(0);
    const { status, error } = await ask(`GET /media/${id}`);
    expect([status, error.details]).toEqual([502, 'the media storage is not reachable']);
    proxy.breakAfter(undefined);
    expect(await download(id)).toEqual({ status: 200, got: BYTES.length, whole: true });
  }, 60_000);
});
