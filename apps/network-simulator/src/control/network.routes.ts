import type { FastifyInstance } from 'fastify';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { z } from 'zod';
import { passTime } from '../linking/passing-time.js';
import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';
import type { TracedStanza } from '../network/trace.js';
import { decodeContent } from '../phones/content.js';
import type { Phones } from '../phones/phones.js';
import { decodeNode } from '../wire/node.js';
import { readable } from '../wire/readable-stanza.js';
import { resetNetwork } from './removal.js';

const MAX_SECONDS = 10 * 365 * 86_400;
const DEFAULT_STANZAS = 100;

export const clockMove = z
  .object({
    seconds: z.number().positive().max(MAX_SECONDS).optional().describe('How far to move it forward.'),
    at: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('The time that it shall show; later than what it shows now.'),
    phonesUsed: z
      .boolean()
      .default(false)
      .describe('Somebody uses every phone meanwhile: otherwise its devices are logged out after 14 days.'),
  })
  .refine(({ seconds, at }) => (seconds === undefined) !== (at === undefined), 'give either seconds or at');
export const traceFilter = z.object({
  phone: z.string().optional().describe('Digits of a number.'),
  device: z.coerce.number().int().positive().optional(),
  connection: z.coerce.number().int().positive().optional().describe('One connection, as GET /connections names it.'),
  tag: z.string().optional().describe('Only stanzas with this tag, such as `message`.'),
  after: z.coerce.number().int().min(0).optional().describe('Only later ones than the stanza with this `seq`.'),
  limit: z.coerce.number().int().min(1).max(10_000).default(DEFAULT_STANZAS).describe('How many, the newest.'),
});

/** The network as a whole: its clock, the way back to an empty one, and what passed its connections. */
export function networkRoutes(app: FastifyInstance, phones: Phones): void {
  const { network } = phones;
  app.get('/clock', () => clockOf(network));
  app.post('/clock', (request) => {
    const { seconds, at, phonesUsed } = clockMove.parse(request.body);
    const ms = at === undefined ? (seconds ?? 0) * 1000 : Date.parse(at) - network.now();
    if (ms <= 0) throw new Refusal(400, 'at: the clock shows a later time already; DELETE /clock sets it right again.');
    const passed = passTime(network, ms, { phonesUsed });
    return { ...clockOf(network), ...passed };
  });
  app.delete('/clock', () => {
    network.clock.reset();
    return clockOf(network);
  });
  app.post('/reset', () => resetNetwork(phones));
  app.get('/trace', (request) => {
    const { limit, tag, ...wanted } = traceFilter.parse(request.query);
    const found = network.trace.all(
      (entry) =>
        (wanted.after === undefined || entry.seq > wanted.after) &&
        (wanted.phone === undefined || entry.phone === wanted.phone.replace(/\D/g, '')) &&
        (wanted.device === undefined || entry.device === wanted.device) &&
        (wanted.connection === undefined || entry.connection === wanted.connection) &&
        (tag === undefined || decodeNode(Buffer.from(entry.bytes)).tag === tag),
    );
    return found.slice(-limit).map((entry) => traced(phones, entry));
  });
}

function clockOf(network: Network): { now: string; movedSeconds: number } {
  return { now: new Date(network.now()).toISOString(), movedSeconds: network.clock.movedMs / 1000 };
}

/** A stanza, with the content of the message in it where the phone of that number could read it. */
function traced(phones: Phones, { bytes, atMs, ...entry }: TracedStanza) {
  const stanza = decodeNode(Buffer.from(bytes));
  const account = phones.network.accounts.byNumber(entry.phone ?? '');
  const id = stanza.attrs['id'] ?? '';
  const message = account && stanza.tag === 'message' ? phones.of(account).messages.get(id) : undefined;
  return {
    ...entry,
    at: new Date(atMs).toISOString(),
    stanza: readable(stanza),
    ...(message && {
      message: proto.Message.toObject(decodeContent(message.content), { bytes: String, enums: String, longs: Number }),
    }),
  };
}
