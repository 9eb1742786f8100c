import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Place } from '../network/faults.js';
import type { Network } from '../network/network.js';
import { passHeldUploads } from '../network/held-uploads.js';

const CHUNK_BYTES = 16 * 1024;
const PATHS = ['/mms/*', '/product/*', '/pps/*'];

/** The file host that clients upload to and download from. */
export function mediaRoutes(app: FastifyInstance, network: Network): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  for (const path of PATHS) {
    app.post<{ Querystring: { auth?: string } }>(path, async (request, reply) => {
      const phone = network.media.uploaderOf(request.query.auth ?? '');
      if (phone === undefined) {
        return reply.status(401).send({ error: 'Uploads need the auth of media_conn as the query parameter auth.' });
      }
      await passHeldUploads(network, { phone });
      const refused = network.faults.trigger('refuse-upload', { phone });
      if (refused) return reply.status(refused.code ?? 500).send({ error: 'The upload is refused.' });
      if (!Buffer.isBuffer(request.body) || request.body.length === 0) {
        return reply.status(400).send({ error: 'The upload is empty.' });
      }
      const directPath = network.media.put(request.body, phone);
      return { url: `https://${network.mediaHost()}${directPath}`, direct_path: directPath };
    });
  }
  app.get('/v/*', async (request, reply) => {
    const bytes = await network.media.open(request.url);
    if (bytes === 403) return reply.status(403).send({ error: 'The query of the direct path is missing or changed.' });
    if (typeof bytes === 'number') return reply.status(bytes).send({ error: 'This file is not here any more.' });
    const range = parseRange(request.headers.range, bytes.length);
    if (range === 'unsatisfiable') return reply.status(416).header('content-range', `bytes */${bytes.length}`).send();
    const part = range ? bytes.subarray(range.from, range.to + 1) : bytes;
    void reply.header('accept-ranges', 'bytes').header('content-type', 'application/octet-stream');
    if (range) void reply.status(206).header('content-range', `bytes ${range.from}-${range.to}/${bytes.length}`);
    return transfer(network, reply, part, { phone: network.media.ownerOf(request.url) });
  });
}

/** Sends bytes: at once, or slowly, or only in part under a fault. */
function transfer(network: Network, reply: FastifyReply, bytes: Buffer, place: Place): FastifyReply {
  const slow = network.faults.trigger('slow-media', place);
  const broken = network.faults.trigger('break-media', place);
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
