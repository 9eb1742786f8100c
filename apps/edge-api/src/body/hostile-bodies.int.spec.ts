/** Bodies that were made to exhaust an edge, against a process of its own with a bounded heap. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { builtApp } from '@dormouse/stack/built-app';
import { residentBytes } from '@dormouse/stack/process-memory';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { RunningEdge, testSwitches } from '../test-edge.js';

jest.setTimeout(120_000);

const MIB = 1024 * 1024;
const HEAP_MIB = 256;
/** The pod of infra/kubernetes/base/edge-api.yaml has 1 GiB. */
const MOST_MIB = 600;
/**
 * The most that the edge's event loop may compute between the request of anybody else and its answer: some 100 ms alone, more
 * where its stores wait for a busy machine and it goes on with the bodies meanwhile.
 */
const OTHERS_WAIT_MS = 2_000;

interface Sent {
  status: number;
  text: string;
}

let bucket: TestBucket;
let spool: string;
let stores: RunningEdge;
let edge: ChildProcess;
let url: string;
let token: string;

beforeAll(async () => {
  bucket = await createTestBucket();
  spool = await mkdtemp(join(tmpdir(), 'dormouse-hostile-'));
  stores = await RunningEdge.start();
  const channel = await stores.channel();
  token = channel.token;
  stores.worker(channel, () => ({ ok: true, result: { sent: true } }));
  const { entry, nodeVariables } = builtApp('edge-api');
  edge = spawn(process.execPath, [`--max-old-space-size=${HEAP_MIB}`, entry], {
    env: {
      ...nodeVariables,
      PATH: process.env.PATH,
      ...testSwitches(),
      S3_ENDPOINT: bucket.endpoint,
      S3_BUCKET: bucket.bucket,
      S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
      SPOOL_DIRECTORY: spool,
      UPLOADS_AT_ONCE: '5',
      RATE_SENDS: 'off',
      RATE_OTHER: 'off',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  url = await listening(edge);
  const headers = { authorization: `Bearer ${token}` };
  while ((await fetch(`${url}/chats`, { headers })).status !== 200)
    await new Promise((resolve) => setImmediate(resolve));
});

afterAll(async () => {
  const ended = once(edge, 'exit');
  edge.kill('SIGTERM');
  await ended;
  await stores.stop();
  await bucket.drop();
  await rm(spool, { recursive: true, force: true });
});

async function listening(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout ?? Readable.from([]) });
  for await (const line of lines) {
    const { msg, url: address } = JSON.parse(line) as { msg: string; url?: string };
    if (msg === 'listening' && address !== undefined) {
      child.stdout?.resume();
      return address.replace('[::1]', '127.0.0.1');
    }
  }
  throw new Error('the edge did not start');
}

/** Sends the pieces as one body, as fast as they are taken; reads the answer, also when it comes before the end. */
function send(
  path: string,
  pieces: Iterable<Buffer | string> | AsyncIterable<Buffer | string>,
  type = 'application/json',
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    const asking = request(`${url}${path}`, { method: 'POST', headers });
    let answered = false;
    asking.on('response', (answer) => {
      answered = true;
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('close', () => {
        asking.destroy();
        resolve({ status: answer.statusCode ?? 0, text });
      });
    });
    asking.on('error', (error) => {
      if (!answered) reject(error);
    });
    const body = Readable.from(pieces, { objectMode: false });
    asking.on('close', () => body.destroy());
    body.on('error', () => undefined).pipe(asking);
  });
}

function* repeated(head: string, unit: string, bytes: number, tail: string): Generator<string> {
  const piece = unit.repeat(Math.ceil((64 * 1024) / unit.length));
  yield head;
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece;
  yield tail;
}

const FORM_TYPE = 'multipart/form-data; boundary=b';
const formPart = (name: string, more = '') => `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;

/** A form of texts alone, of this many bytes each. */
function* formOfTexts(texts: number, bytes: number): Generator<string> {
  for (let text = 0; text < texts; text += 1) yield* repeated(formPart(`text${text}`), 'a', bytes, '\r\n');
  yield '--b--\r\n';
}

/** Sends a form whose text comes in chunks of one byte each, until there is an answer. */
async function sendByteByByte(path: string, bytes: number): Promise<Sent> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const head = formPart('text');
  const fields = [`host: ${hostname}`, `authorization: Bearer ${token}`, `content-type: ${FORM_TYPE}`];
  socket.write(
    [`POST ${path} HTTP/1.1`, ...fields, 'transfer-encoding: chunked', '', head.length.toString(16), head, ''].join(
      '\r\n',
    ),
  );
  const body = Readable.from(repeated('', '1\r\na\r\n', 6 * bytes, ''), { objectMode: false });
  body.pipe(socket, { end: false });
  let text = '';
  for await (const part of socket.setEncoding('utf8')) {
    text += String(part);
    if (text.endsWith('}')) break;
  }
  body.destroy();
  return { status: Number(text.split(' ', 2)[1]), text };
}

/**
 * What the edge's event loop has computed so far, in steps of 10 ms: what it keeps others waiting for, however busy the
 * machine is with other specs. Its other threads (collection, files) keep nobody waiting. Where there is no `/proc`, the time
 * of day.
 */
async function computedMs(): Promise<number> {
  const stat = await readFile(`/proc/${edge.pid}/task/${edge.pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return performance.now();
  const [userTicks, systemTicks] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(userTicks) + Number(systemTicks)) * 10;
}

/** What happens to the process, and to others, while the work is done. */
async function watched<Result>(work: Promise<Result>): Promise<{ result: Result }> {
  let rssMib = 0;
  let waitedMs = 0;
  const pending = { value: true };
  const done = work.finally(() => (pending.value = false));
  const watch = async (): Promise<void> => {
    while (pending.value) {
      const began = await computedMs();
      await fetch(`${url}/chats`);
      waitedMs = Math.max(waitedMs, (await computedMs()) - began);
      rssMib = Math.max(rssMib, (await residentBytes(edge.pid ?? 0)) / MIB);
    }
  };
  const [result] = await Promise.all([done, watch()]);
  expect(edge.exitCode).toBeNull();
  expect(rssMib).toBeLessThan(MOST_MIB);
  expect(waitedMs).toBeLessThan(OTHERS_WAIT_MS);
  return { result };
}

describe('an edge with a bounded heap', () => {
  it.each([
    ['empty objects', '/messages/document', '{"to":"15550001111","media":[', '{},', 48 * MIB],
    ['empty lists', '/messages/image', '{"to":"15550001111","media":[', '[],', 20 * MIB],
    ['numbers', '/media', '[', '0,', 48 * MIB],
    ['members', '/messages/document', '{"to":"15550001111"', ',"a":1', 48 * MIB],
    ['nesting', '/messages/document', '{"media":', '[', 48 * MIB],
    ['nested objects', '/messages/document', '', '{"a":', 48 * MIB],
    ['objects where no file is taken', '/messages/text', '{"to":[', '{},', 900 * 1024],
    ['texts beside the file', '/messages/document', '{"caption":"', 'a', 48 * MIB],
    ['many long texts', '/messages/document', '{"a":[""', `,"${'x'.repeat(10_000)}"`, 48 * MIB],
    ['escapes', '/messages/document', '{"media":"', '\\u0000', 48 * MIB],
  ])('refuses three bodies of %s at once, and serves others meanwhile', async (_what, path, head, unit, bytes) => {
    const three = Promise.all([1, 2, 3].map(() => send(path, repeated(head, unit, bytes, ''))));
    const { result } = await watched(three);
    for (const { status, text } of result) {
      expect([400, 413]).toContain(status);
      expect(text).toMatch(/"details":"body: /);
    }
    expect(await readdir(spool)).toEqual([]);
  });

  it('takes a document of 100 MiB and four of 15 MiB as base64 at once', async () => {
    const document = (bytes: number) =>
      repeated(
        '{"to":"15550001111","filename":"a.bin","mime_type":"application/x-thing","media":"',
        'AAAA',
        bytes,
        '"}',
      );
    const five = [132, 20, 20, 20, 20].map((mib) => send('/messages/document', document(mib * MIB)));
    const { result } = await watched(Promise.all(five));
    expect(result.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await readdir(spool)).toEqual([]);
  });

  it.each([
    ['texts alone', '/media', () => formOfTexts(64, MIB - 64 * 1024)],
    ['one text without end', '/media', () => repeated(formPart('media'), 'a', 64 * MIB, '')],
    ['long names', '/media', () => repeated('', `${formPart('n'.repeat(15_000))}\r\n`, 3 * MIB, '')],
    ['parts that are ignored', '/media', () => repeated('--b\r\nx: y\r\n\r\n', 'a', 64 * MIB, '')],
    ['bytes before the first part', '/messages/image', () => repeated('', 'a', 64 * MIB, '')],
    ['bytes behind the last part', '/messages/image', () => repeated('--b--\r\n', 'a', 64 * MIB, '')],
    [
      'texts beside a small file',
      '/messages/image',
      function* () {
        yield `${formPart('media', '; filename="a.png"')}a\r\n`;
        yield* formOfTexts(64, MIB - 64 * 1024);
      },
    ],
  ])('refuses twelve forms of %s at once, and serves others meanwhile', async (_what, path, body) => {
    const twelve = Promise.all(Array.from({ length: 12 }, () => send(path, body(), FORM_TYPE)));
    const { result } = await watched(twelve);
    for (const { status, text } of result) {
      expect([413, 503]).toContain(status);
      expect(JSON.parse(text)).toMatchObject({ error: { code: status, details: expect.any(String) as string } });
    }
    expect(await readdir(spool)).toEqual([]);
  });

  it('refuses a form whose text comes byte by byte, and serves others meanwhile', async () => {
    const { result } = await watched(sendByteByByte('/media', 3 * MIB));
    expect([413, 503]).toContain(result.status);
  });

  it('refuses forms with 503 while others hold the memory that a channel may have, and takes them afterwards', async () => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const slow = async function* (): AsyncGenerator<string> {
      yield* repeated(formPart('text'), 'a', MIB, '');
      await finished;
      yield '\r\n--b--\r\n';
    };
    const forms = Array.from({ length: 24 }, () => send('/media', slow(), FORM_TYPE));
    const refused = await Promise.race(forms);
    expect([refused.status, refused.text]).toEqual([503, expect.stringMatching(/too many large bodies/)]);
    finish();
    const statuses = (await Promise.all(forms)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([400, 503]));
    const one = await send('/media', formOfTexts(1, MIB), FORM_TYPE);
    expect([one.status, one.text]).toEqual([400, expect.stringMatching(/"details":"media: required/)]);
  });
});
