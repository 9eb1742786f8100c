/**
 * Small files that claim, or unpack to, a lot: two channels send each of them, three at once, while a third one sends texts. Prints
 * the peak memory of the worker with all processes that it starts, and the latency of the texts, alone and meanwhile.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '@dormouse/stack';
import { emptyRangesPdf, framesGif, largeStreamsPdf, silentOpus, zeroPng } from '@dormouse/stack/hostile-files';
import { residentBytesOfTree, watchPeak } from '@dormouse/stack/process-memory';
import { summarize } from './latencies.js';
import { printTable } from './table.js';
import { World, type LinkedChannel } from './world.js';

const TEXTS = 60;
const PAUSE_MS = 50;
const AT_ONCE = 3;
/** Memory limit of the worker in infra/kubernetes. */
const POD_MIB = 2_048;
const SAMPLE_EVERY_MS = 50;
const MIB = 2 ** 20;

type Attack = readonly [what: string, path: string, body: () => Uint8Array<ArrayBuffer>];

const encode = (body: object) => Uint8Array.from(Buffer.from(JSON.stringify(body)));
const dataUri = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`;

/** Bodies are encoded once: encoding them would hold up the client, which measures. */
function attacks(pageUrl: string, to: string): Attack[] {
  const png = zeroPng({ width: 10_900, height: 10_900 });
  const file = (type: string, bytes: Buffer) => {
    const body = encode({ to, media: dataUri(type, bytes) });
    return () => body;
  };
  let page = 0;
  return [
    ['PNG of 119 million pixels, interlaced', '/messages/image', file('image/png', png)],
    [
      'the same as picture of a linked page',
      '/messages/text',
      () => encode({ to, body: `see ${pageUrl}/${(page += 1)}` }),
    ],
    ['GIF of 10,000 frames', '/messages/sticker', file('image/gif', framesGif(10_000))],
    ['PDF of 1.5 million empty ranges', '/messages/document', file('application/pdf', emptyRangesPdf(1_500_000))],
    ['PDF of 32 large streams', '/messages/document', file('application/pdf', largeStreamsPdf(32))],
    ['40 hours of silence', '/messages/voice', file('audio/ogg', silentOpus(40))],
    ['40 hours of silence, to be converted', '/messages/audio', file('audio/ogg', silentOpus(40))],
  ];
}

/** Pages that show the PNG, each of an address of its own. */
async function withPages<T>(use: (url: string) => Promise<T>): Promise<T> {
  const png = zeroPng({ width: 10_900, height: 10_900 });
  const server = createServer((request, response) => {
    const isPicture = request.url?.endsWith('.png') ?? false;
    response.setHeader('content-type', isPicture ? 'image/png' : 'text/html');
    response.end(isPicture ? png : `<title>x</title><meta property="og:image" content="${request.url ?? ''}.png">`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Milliseconds of each text of a channel, sent one after the other until `isOver`. */
async function texts(send: () => Promise<number>, isOver: (count: number) => boolean): Promise<number[]> {
  const latenciesMs: number[] = [];
  while (!isOver(latenciesMs.length)) {
    const beganMs = performance.now();
    const status = await send();
    if (status !== 200) throw new Error(`a text of another channel was answered ${status}`);
    latenciesMs.push(performance.now() - beganMs);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return latenciesMs;
}

export async function benchHostile(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'dormouse-bench-'));
  console.error('Starting the stack ...');
  const stack = await startStack({
    dataDir,
    network: 'simulator',
    logs: 'silent',
    env: { 'edge-api': { RATE_SENDS: 'off', RATE_HEALTH: 'off', RATE_OTHER: 'off' } },
  });
  try {
    const world = new World(stack);
    const [one, two, other] = [await world.link(), await world.link(), await world.link()];
    const to = await world.newPhone();
    const worker = stack.processes['session-worker'][0] ?? 0;
    const post = async ({ token }: LinkedChannel, [, path, body]: Attack): Promise<number> => {
      const response = await fetch(`${stack.urls.edge.sg ?? ''}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: body(),
      });
      await response.arrayBuffer();
      return response.status;
    };
    const text = () => world.send(other, to, 'a text of another channel');
    await texts(text, (count) => count === TEXTS);
    const rows: string[][] = [];
    await withPages(async (pageUrl) => {
      for (const attack of attacks(pageUrl, to)) {
        console.error(`${attack[0]} ...`);
        const alone = summarize(await texts(text, (count) => count === TEXTS), 1);
        let isOver = false;
        let [tookMs, statuses, meanwhile]: [number, number[], number[]] = [0, [], []];
        const { before, peak } = await watchPeak(
          () => residentBytesOfTree(worker),
          SAMPLE_EVERY_MS,
          async () => {
            const beganMs = performance.now();
            const sent = Promise.all(
              [one, two].flatMap((channel) => Array.from({ length: AT_ONCE }, () => post(channel, attack))),
            ).finally(() => (isOver = true));
            meanwhile = await texts(text, () => isOver);
            statuses = await sent;
            tookMs = performance.now() - beganMs;
          },
        );
        const during = summarize(meanwhile, 1);
        rows.push([
          attack[0],
          [...new Set(statuses)].join(', '),
          (tookMs / 1_000).toFixed(1),
          (before / MIB).toFixed(0),
          (peak / MIB).toFixed(0),
          String(meanwhile.length),
          ...[alone.p50Ms, during.p50Ms, alone.p95Ms, during.p95Ms].map((ms) => ms.toFixed(0)),
        ]);
      }
    });
    console.log(`\nTwo channels, ${AT_ONCE} at once each; memory in MiB of ${POD_MIB}; texts of a third channel in ms`);
    printTable([
      ['file', 'answers', 's', 'before', 'peak', 'texts', 'p50 alone', 'meanwhile', 'p95 alone', 'meanwhile'],
      ...rows,
    ]);
  } finally {
    await stack.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
