import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Fault } from '../faults/faults.js';
import { releaseAcks } from '../network/acknowledge.js';
import type { Connection } from '../network/connection.js';
import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';
import { node, type Node } from '../wire/node.js';

const place = {
  phone: z.string().optional(),
  device: z.number().int().positive().optional(),
};
const fault = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('drop'),
    ...place,
    /** Stream error that is sent before the line is cut; none: the line is cut without a word. */
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
  z.object({ kind: z.literal('make-unknown'), phone: z.string() }),
  z.object({ kind: z.literal('lose-receipts'), ...place, count: z.number().int().positive().optional() }),
]);
type Asked = z.infer<typeof fault>;

/** Making things go wrong. */
export function faultRoutes(app: FastifyInstance, network: Network): void {
  app.post('/faults', (request, reply) => {
    const asked = fault.parse(request.body);
    if (asked.kind === 'drop') return { dropped: drop(network, asked) };
    return reply.status(201).send(begin(network, asked));
  });
  app.get('/faults', () => network.faults.all());
  app.delete('/faults/:id', (request) => {
    const { id } = z.object({ id: z.string() }).parse(request.params);
    if (!network.faults.remove(id)) throw new Refusal(404, 'There is no such fault.');
    return { removed: id };
  });
}

function begin(network: Network, asked: Exclude<Asked, { kind: 'drop' }>): Fault {
  if (asked.kind === 'hold-acks') {
    const held: Fault = network.faults.add(asked, () => releaseAcks(held.id));
    return held;
  }
  if (asked.kind !== 'silence') return network.faults.add(asked);
  const silenced = connectionsAt(network, asked);
  for (const connection of silenced) connection.silent = true;
  return network.faults.add(asked, () => {
    for (const connection of silenced) connection.silent = false;
  });
}

function drop(network: Network, asked: Extract<Asked, { kind: 'drop' }>): number {
  const dropped = connectionsAt(network, asked);
  for (const connection of dropped) {
    if (asked.code === undefined && !asked.conflict) connection.cut();
    else connection.end(streamError(asked));
  }
  return dropped.length;
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
