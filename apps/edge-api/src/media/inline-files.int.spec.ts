import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReceivedCommand } from '@dormouse/queues';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { RunningEdge, type TestChannel } from '../test-edge.js';
import { PNG } from './test-requests.js';

const KIB = 1024;
/** Longer than what is kept of a JSON body in memory. */
const LARGE = Buffer.concat([PNG, randomBytes(300 * KIB)]);
const BASE64 = LARGE.toString('base64');

describe('files inside a body', () => {
  let bucket: TestBucket;
  let spool: string;
  let edge: RunningEdge;
  let channel: TestChannel;

  beforeAll(async () => {
    bucket = await createTestBucket();
    spool = await mkdtemp(join(tmpdir(), 'dormouse-inline-'));
    edge = await RunningEdge.start({
      S3_ENDPOINT: bucket.endpoint,
      S3_BUCKET: bucket.bucket,
      S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
      SPOOL_DIRECTORY: spool,
      MEDIA_LIMITS: JSON.stringify({ image: 400 * KIB, document: 500 * KIB, video: 500 * KIB, sticker: 16 * KIB }),
      RATE_OTHER: 'off',
      RATE_SENDS: 'off',
    });
    await edge.ready();
    channel = await edge.channel();
  }, 60_000);

  afterAll(async () => {
    await edge.stop();
    await bucket.drop();
    await rm(spool, { recursive: true, force: true });
  });

  afterEach(async () => {
    expect(await readdir(spool)).toEqual([]);
  });

  const post = (path: string, body: unknown, type = 'application/json') =>
    edge.ask(`POST ${path}`, { token: channel.token, body, headers: { 'content-type': type } });
  const file = async (answer: { json: unknown }) => {
    const { id } = answer.json as { id: string };
    const headers = { authorization: `Bearer ${channel.token}` };
    const got = await fetch(`${edge.url}/media/${id}`, { headers });
    return {
      bytes: Buffer.from(await got.arrayBuffer()),
      type: got.headers.get('content-type'),
      name: /filename="([^"]*)"/.exec(got.headers.get('content-disposition') ?? '')?.[1],
    };
  };

  it.each([
    ['application/pdf', 'data:image/png;base64,', 'png', undefined],
    ['text/plain', 'data:image/png;name=output.png;base64,', 'png', 'output.png'],
    ['application/octet-stream', 'DATA:Image/PNG; name="a b.png"; BASE64,', 'png', 'a b.png'],
    ['application/x-www-form-urlencoded', 'data:application/pdf;charset=utf-8;filename=x.png;base64,', 'png', 'x.png'],
  ])('a raw body of %s that is a data: URI (%s) is decoded', async (type, header, _extension, name) => {
    for (const bytes of [PNG, LARGE]) {
      const kept = await file(await post('/media', header + bytes.toString('base64'), type));
      expect([kept.bytes.equals(bytes), kept.type]).toEqual([true, 'image/png']);
      if (name !== undefined) expect(kept.name).toBe(name);
    }
  });

  it('a data: URI whose content does not show its type keeps the type it claims', async () => {
    const kept = await file(await post('/media', 'data:text/csv;name=a.csv;base64,YSxiCjEsMg==\n', 'application/pdf'));
    expect(kept).toMatchObject({ bytes: Buffer.from('a,b\n1,2'), type: expect.stringMatching(/^text\/csv/) as string });
  });

  it.each([
    ['a character that is none', `data:image/png;base64,${BASE64}!`],
    ['too few characters', 'data:image/png;base64,QUJDQ'],
    ['padding in the middle', 'data:image/png;base64,QQ==QUJD'],
  ])('a raw data: URI with broken base64 (%s) is 400 naming it', async (_what, body) => {
    expect((await post('/media', body, 'image/png')).error).toMatchObject({
      code: 400,
      details: 'media: is not valid base64',
    });
  });

  it('a raw data: URI is held to the limit of what it holds', async () => {
    const large = Buffer.concat([PNG, Buffer.alloc(450 * KIB)]).toString('base64');
    expect((await post('/media', `data:image/png;base64,${large}`, 'image/png')).error).toMatchObject({
      code: 413,
      details: `image: larger than ${400 * KIB} bytes`,
    });
  });

  it('a text that only begins like a data: URI stays what it is', async () => {
    for (const text of ['data: one\ndata: two\n', 'data:text/plain,hello', 'database,1,2']) {
      expect((await file(await post('/media', text, 'text/plain'))).bytes.toString()).toBe(text);
    }
  });

  it('base64 that is not kept in memory is the same file, however it is written', async () => {
    const bodies = [
      JSON.stringify({ media: BASE64 }),
      JSON.stringify({ media: `data:image/png;name=a.png;base64,${BASE64}` }),
      `{"media":"${BASE64.replaceAll('/', '\\/')}"}`,
      JSON.stringify({ media: LARGE.toString('base64url') }),
      JSON.stringify({ media: BASE64.replace(/.{76}/g, '$&\r\n') }),
    ];
    for (const body of bodies) expect((await file(await post('/media', body))).bytes.equals(LARGE)).toBe(true);
  });

  it.each([
    ['is no base64', { media: `${BASE64}!` }, 400, /^media: is not valid base64$/],
    ['is no base64, in another place', { media: `?${BASE64}` }, 400, /^media: /],
    ['is a data: URI without a type', { media: `data:;base64,${BASE64}` }, 400, /^media: must be an http/],
    ['is larger than its use allows', { to: '15550001111', media: BASE64 }, 413, /^sticker: /],
    ['stands in a list', { media: [BASE64] }, 400, /^media: must be text/],
    ['stands in another field', { file: BASE64 }, 400, /^media: required/],
  ])('a long text that %s is refused, naming the field', async (_what, body, status, details) => {
    const answer = await post('to' in body ? '/messages/sticker' : '/media', body);
    expect(answer.error).toMatchObject({ code: status, details: expect.stringMatching(details) as string });
  });

  it('names a missing field of a request whose file is in the spool already, and keeps nothing', async () => {
    expect((await post('/messages/image', { media: BASE64 })).error.details).toMatch(/^to: /);
    expect((await post('/media', `{"media":"${BASE64}","media":"x"`)).error.details).toBe('body: not valid JSON');
  });

  it('an invitation with a picture is sent with it, and never followed', async () => {
    const commands: ReceivedCommand[] = [];
    const worker = edge.worker(channel, (command) => {
      commands.push(command);
      return { ok: true, result: { sent: true } };
    });
    const answers = [];
    for (const media of [PNG.toString('base64'), BASE64]) {
      answers.push(await post('/groups/link/AbCdEfGhIjKlMnOpQrStUv', { to: '15550001111', body: 'Join', media }));
    }
    await post('/groups/link/AbCdEfGhIjKlMnOpQrStUv', {});
    await worker.close();
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(commands.map(({ name }) => name)).toEqual(['groups.sendInvite', 'groups.sendInvite', 'groups.join']);
  });
});
