import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { form, json, PNG } from './test-requests.js';
import { RunningEdge, type TestChannel } from '../test-edge.js';

let bucket: TestBucket;
let spool: string;
let edge: RunningEdge;
let channel: TestChannel;

beforeAll(async () => {
  bucket = await createTestBucket();
  spool = await mkdtemp(join(tmpdir(), 'dormouse-edge-spool-'));
  edge = await RunningEdge.start({
    S3_ENDPOINT: bucket.endpoint,
    S3_BUCKET: bucket.bucket,
    S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
    SPOOL_DIRECTORY: spool,
  });
  await edge.ready();
  channel = await edge.channel();
}, 60_000);

afterAll(async () => {
  await edge.stop();
  await bucket.drop();
  await rm(spool, { recursive: true, force: true });
}, 30_000);

async function ask(
  route: string,
  { body, headers }: { body?: RequestInit['body']; headers?: Record<string, string> } = {},
) {
  const [method, path] = route.split(' ');
  const authorization = `Bearer ${channel.token}`;
  const response = await fetch(`${edge.url}${path}`, { method, body, headers: { authorization, ...headers } });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const answer = (isJson ? JSON.parse(text) : {}) as { id?: string; error?: { details: string } };
  return { status: response.status, headers: response.headers, json: answer };
}

describe('a file that is given', () => {
  it.each([
    ['application/x\r\nX: 1'],
    ['application/\u0000'],
    ['application/\ud83d\ude00'],
    ['application/x; \u00e9=1'],
    ['pdf'],
  ])('refuses a type that no header can hold, %j', async (mimeType) => {
    const { status, json: answer } = await ask('POST /media', json({ media: 'AAAAAAAA', mime_type: mimeType }));
    expect([status, answer.error?.details]).toEqual([400, expect.stringMatching(/^mime_type: /)]);
    const asForm = await ask('POST /media', { body: form({ media: new Blob([PNG]), mime_type: mimeType }) });
    expect([asForm.status, asForm.json.error?.details]).toEqual([400, expect.stringMatching(/^mime_type: /)]);
  });

  it('gives back what came as a data: URI with parameters that no header can hold', async () => {
    const id = (await ask('POST /media', json({ media: 'data:application/x;\u00e9=\ud800;base64,AAAA' }))).json.id;
    const got = await ask(`GET /media/${id}`);
    expect([got.status, got.headers.get('content-type')]).toEqual([200, 'application/x']);
  });

  it('offers a file under the name that a browser gave it in a form', async () => {
    const { json: answer } = await ask('POST /media', { body: form({ media: new Blob([PNG]) }, 'what: "это"?.png') });
    const { headers } = await ask(`GET /media/${answer.id}`);
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="what: ''?.png"; filename*=UTF-8''what%3A%20%22%D1%8D%D1%82%D0%BE%22%3F.png`,
    );
  });
});
