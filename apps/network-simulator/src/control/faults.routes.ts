import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Fault } from '../network/faults.js';
import { releaseUploads } from '../network/held-uploads.js';
import { releaseAcks } from '../delivery/acknowledge.js';
import type { Connection } from '../network/connection.js';
import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';
import { node, type Node } from '../wire/node.js';

const place = {
  phone: z.string().optional(),
  device: z.number().int().positive().optional(),
};
/** The phone itself (device 0) included. */
const anyDevice = { ...place, device: z.number().int().min(0).optional() };
/** Of files: only those that this number's phone or devices upload, or have uploaded. */
const ofUploader = z.string().optional();
const count = z.number().int().positive().optional();
export const fault = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('drop'),
    ...place,
    /** Stream error that is sent before the line is cut; none: the connection is cut without one. */
    code: z.number().int().optional(),
    conflict: z.enum(['replaced', 'device_removed']).optional(),
  }),
  z.object({
    kind: z.literal('refuse-connection'),
    ...place,
    code: z.number().int().default(503),
    count: z.number().int().positive().default(1),
  }),
  z.object({
    kind: z.literal('refuse-send'),
    ...place,
    code: z.number().int().default(479),
    count: z.number().int().positive().default(1),
  }),
  z.object({
    kind: z.literal('delay-acks'),
    ...place,
    ms: z.number().int().min(1),
    count: z.number().int().positive().optional(),
  }),
  z.object({ kind: z.literal('hold-acks'), ...place }),
  z.object({ kind: z.literal('silence'), ...place }),
  z.object({ kind: z.literal('ban'), phone: z.string() }),
  z.object({
    kind: z.literal('refuse-iq'),
    ...place,
    xmlns: z.string().optional(),
    code: z.number().int().default(500),
    text: z.string().default('internal-server-error'),
    count: z.number().int().positive().default(1),
  }),
  z.object({
    kind: z.literal('delay'),
    ...place,
    ms: z.number().int().min(0),
    jitterMs: z.number().int().min(0).default(0),
    count,
  }),
  z.object({ kind: z.literal('corrupt-message'), ...anyDevice, count: z.number().int().positive().default(1) }),
  z.object({ kind: z.literal('duplicate-message'), ...anyDevice, count: z.number().int().positive().default(1) }),
  z.object({ kind: z.literal('placeholder'), ...place, count: z.number().int().positive().default(1) }),
  z.object({
    kind: z.literal('storm'),
    ...place,
    /** How often every connection is cut. */
    times: z.number().int().min(1).max(1000).default(5),
    everyMs: z.number().int().min(10).default(1000),
  }),
  z.object({ kind: z.literal('make-unknown'), phone: z.string() }),
  z.object({
    kind: z.literal('expire-media'),
    phone: ofUploader,
    /** Of one file (as messages show it); all files when absent. */
    directPath: z.string().optional(),
    code: z.union([z.literal(404), z.literal(410)]).default(410),
  }),
  z.object({ kind: z.literal('refuse-upload'), phone: ofUploader, code: z.number().int().default(500), count }),
  z.object({ kind: z.literal('hold-uploads'), phone: ofUploader }),
  z.object({ kind: z.literal('slow-media'), phone: ofUploader, ms: z.number().int().min(1), count }),
  z.object({ kind: z.literal('break-media'), phone: ofUploader, count }),
  z.object({ kind: z.literal('lose-receipts'), ...place, count: z.number().int().positive().optional() }),
]);
type FaultRequest = z.infer<typeof fault>;

/** Making things go wrong. */
export function faultRoutes(app: FastifyInstance, network: Network): void {
  app.post('/faults', (request, reply) => {
    const wanted = fault.parse(request.body);
    if (wanted.kind === 'drop') return { dropped: drop(network, wanted) };
    if (wanted.kind === 'storm') return storm(network, wanted);
    if (wanted.kind === 'expire-media')
      return { expired: network.media.expire(wanted.directPath, wanted.code, wanted.phone) };
    return reply.status(201).send(begin(network, wanted));
  });
  app.get('/faults', () => network.faults.all());
  app.delete('/faults/:id', (request) => {
    const { id } = z.object({ id: z.string() }).parse(request.params);
    if (!network.faults.remove(id)) throw new Refusal(404, 'There is no such fault.');
    return { removed: id };
  });
}

function begin(network: Network, wanted: Exclude<FaultRequest, { kind: 'drop' | 'expire-media' | 'storm' }>): Fault {
  if (wanted.kind === 'hold-acks') {
    const held: Fault = network.faults.add(wanted, () => releaseAcks(held.id));
    return held;
  }
  if (wanted.kind === 'hold-uploads') {
    const held: Fault = network.faults.add(wanted, () => releaseUploads(held.id));
    return held;
  }
  if (wanted.kind === 'ban') {
    for (const connection of connectionsAt(network, wanted)) connection.end(streamError({ code: 403 }));
  }
  if (wanted.kind !== 'silence') return network.faults.add(wanted);
  const silenced = connectionsAt(network, wanted);
  for (const connection of silenced) connection.silent = true;
  return network.faults.add(wanted, () => {
    for (const connection of silenced) connection.silent = false;
  });
}

function drop(network: Network, wanted: Extract<FaultRequest, { kind: 'drop' }>): number {
  const dropped = connectionsAt(network, wanted);
  for (const connection of dropped) {
    if (wanted.code === undefined && !wanted.conflict) connection.cut();
    else connection.end(streamError(wanted));
  }
  return dropped.length;
}

/** Cuts every connection again and again, as a flapping network does. */
function storm(network: Network, wanted: Extract<FaultRequest, { kind: 'storm' }>): { times: number } {
  let left = wanted.times;
  const cut = (): void => {
    for (const connection of connectionsAt(network, wanted)) connection.cut();
    if (--left <= 0) clearInterval(timer);
  };
  const timer = setInterval(cut, wanted.everyMs);
  timer.unref();
  cut();
  return { times: wanted.times };
}

function streamError({ code, conflict }: { code?: number | undefined; conflict?: string | undefined }): Node {
  const attrs = { code: code === undefined ? undefined : String(code) };
  return node('stream:error', attrs, conflict ? [node('conflict', { type: conflict })] : undefined);
}

function connectionsAt(
  network: Network,
  at: { phone?: string | undefined; device?: number | undefined },
): Connection[] {
  return [...network.connections.all()].filter(
    ({ device }) =>
      device !== undefined &&
      (at.phone === undefined || device.account.phone === at.phone) &&
      (at.device === undefined || device.id === at.device),
  );
}
