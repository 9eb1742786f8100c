import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Network } from '../network/network.js';
import { passHeldUploads } from '../network/held-uploads.js';

const CHUNK_BYTES = 16 * 1024;
const PATHS = ['/mms/*', '/product/*', '/pps/*'];

/** The file host that clients upload to and download from. */
export function mediaRoutes(app: FastifyInstance, network: Network): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  for (const path of PATHS) {
    app.post(path, async (request, reply) => {
      await passHeldUploads(network);
      const refused = network.faults.trigger('refuse-upload', {});
      if (refused) return reply.status(refused.code ?? 500).send({ error: 'The upload is refused.' });
      if (!Buffer.isBuffer(request.body) || request.body.length === 0) {
        return reply.status(400).send({ error: 'The upload is empty.' });
      }
      const directPath = network.media.put(request.body);
      return { url: `https://${network.mediaHost()}${directPath}`, direct_path: directPath };
    });
  }
  app.get<{ Params: { '*': string } }>('/v/*', async (request, reply) => {
    const bytes = await network.media.get(`/v/${request.params['*']}`);
    if (typeof bytes === 'number') return reply.status(bytes).send({ error: 'This file is not here any more.' });
    const range = parseRange(request.headers.range, bytes.length);
    if (range === 'unsatisfiable') return reply.status(416).header('content-range', `bytes */${bytes.length}`).send();
    const part = range ? bytes.subarray(range.from, range.to + 1) : bytes;
    void reply.header('accept-ranges', 'bytes').header('content-type', 'application/octet-stream');
    if (range) void reply.status(206).header('content-range', `bytes ${range.from}-${range.to}/${bytes.length}`);
    return transfer(network, reply, part);
  });
}

/** Sends bytes: at once, or slowly, or only in part under a fault. */
function transfer(network: Network, reply: FastifyReply, bytes: Buffer): FastifyReply {
  const slow = network.faults.trigger('slow-media', {});
  const broken = network.faults.trigger('break-media', {});
  void reply.header('content-length', bytes.length);
  if (!slow && !broken) return reply.send(bytes);
  const end = broken ? Math.floor(bytes.length / 2) : bytes.length;
  const pauseMs = slow?.ms ?? 0;
  const chunks = async function* (): AsyncGenerator<Buffer> {
    for (let at = 0; at < end; at += CHUNK_BYTES) {
      if (pauseMs > 0) await wait(pauseMs);
      yield bytes.subarray(at, Math.min(at + CHUNK_BYTES, end));
    }
    if (broken) throw new Error('The transfer breaks off.');
  };
  return reply.send(Readable.from(chunks()));
}

/** `bytes=from-[to]` or `bytes=-last`; everything else gets the whole file. */
export function parseRange(
  header: string | undefined,
  length: number,
): { from: number; to: number } | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '')
    return length === 0 ? 'unsatisfiable' : { from: Math.max(0, length - Number(last)), to: length - 1 };
  const from = Number(first);
  const to = last === '' ? length - 1 : Math.min(Number(last), length - 1);
  return from >= length || from > to ? 'unsatisfiable' : { from, to };
}
