import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { relayCall } from '../delivery/calls.js';
import { handleChatState } from '../delivery/presence.js';
import { Refusal } from '../network/refusal.js';
import type { Phones } from '../phones/phones.js';
import { child, node, type Node } from '../wire/node.js';
import { stanzaFrom, type ReadableStanza } from '../wire/readable-stanza.js';
import { accountOf } from './lookup.js';

const atPhone = z.object({ phone: z.string() });
const atDevice = z.object({ phone: z.string(), device: z.coerce.number().int().positive() });

export const stanza: z.ZodType<ReadableStanza> = z
  .object({
    tag: z.string().min(1),
    attrs: z.record(z.string(), z.string()).optional(),
    get content() {
      return z
        .union([z.array(stanza), z.string(), z.object({ base64: z.base64() })])
        .optional()
        .describe('Stanzas, text, or bytes as base64.');
    },
  })
  .meta({ id: 'Stanza' });
export const serverStanza = z.object({
  stanza,
  queued: z
    .boolean()
    .default(true)
    .describe('Waits for the device and is confirmed by it; `false`: only if it is online now.'),
});

/** What a phone can send besides what it has a call for. */
const SENT_BY_PHONES = ['message', 'receipt', 'chatstate', 'call'] as const;

/** Stanzas as somebody wrote them, for what has no call of its own. */
export function rawRoutes(app: FastifyInstance, phones: Phones): void {
  const { network } = phones;
  app.post('/phones/:phone/stanzas', (request, reply) => {
    const account = accountOf(network, atPhone.parse(request.params).phone);
    const sent = withId(stanzaFrom(stanza.parse(request.body)), network.stanzaId());
    const sender = { account, device: 0 };
    const phone = phones.of(account);
    if (sent.tag === 'message') phone.route(sent);
    else if (sent.tag === 'receipt') phone.receipt(sent.attrs, Array.isArray(sent.content) ? sent.content : undefined);
    else if (sent.tag === 'chatstate') handleChatState(network, sender, sent);
    else if (sent.tag === 'call')
      relayCall(network, account, accountOf(network, sent.attrs['to'] ?? ''), requiredPart(sent));
    else throw new Refusal(400, `tag: a phone sends ${SENT_BY_PHONES.join(', ')} here, not ${sent.tag}.`);
    return reply.status(202).send({ id: sent.attrs['id'] });
  });
  app.post('/phones/:phone/devices/:device/stanzas', (request, reply) => {
    const { phone, device: id } = atDevice.parse(request.params);
    const { stanza: given, queued } = serverStanza.parse(request.body);
    const device = accountOf(network, phone).devices.get(id);
    if (!device) throw new Refusal(404, `Device ${id} is not linked.`);
    const sent = withId(stanzaFrom(given), network.stanzaId());
    if (queued) device.deliver(sent);
    else device.sendNow(sent);
    return reply.status(202).send({ id: sent.attrs['id'], online: device.online });
  });
}

function withId(sent: Node, id: string): Node {
  return node(sent.tag, { id, ...sent.attrs }, sent.content);
}

function requiredPart(call: Node): Node {
  const part = child(call);
  if (!part) throw new Refusal(400, 'content: a call has one stanza in it, such as offer or terminate.');
  return part;
}
