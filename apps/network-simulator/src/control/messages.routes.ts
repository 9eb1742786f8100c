import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';
import type { MessageFilter, PhoneMessage } from '../phone/message-log.js';
import { chatName, type Phone } from '../phone/phone.js';
import { accountOf, chatJid } from './lookup.js';

const MAX_WAIT_MS = 120_000;

const atPhone = z.object({ phone: z.string() });
const send = z.object({ to: z.string().min(1), text: z.string(), id: z.string().min(1).optional() });
const status = z.enum(['pending', 'sent', 'delivered', 'read', 'played', 'error']);
const filter = z.object({
  id: z.string().optional(),
  text: z.string().optional(),
  chat: z.string().optional(),
  type: z.string().optional(),
  fromMe: z.union([z.boolean(), z.enum(['true', 'false']).transform((value) => value === 'true')]).optional(),
});
const wait = filter.extend({
  status: status.optional(),
  timeoutMs: z.number().int().min(0).max(MAX_WAIT_MS).default(10_000),
});
const read = z.object({ chat: z.string().min(1), ids: z.array(z.string()).optional() });

/** A message as the control API shows it: without the raw content. */
export type ShownMessage = Omit<PhoneMessage, 'content' | 'wireChat' | 'wireAuthor'>;

/** What phones send, receive and read. */
export function messageRoutes(app: FastifyInstance, network: Network): void {
  const phoneAt = (params: unknown): Phone => network.phone(accountOf(network, atPhone.parse(params).phone));
  const normal = (given: z.infer<typeof filter>): MessageFilter => ({
    ...given,
    chat: given.chat === undefined ? undefined : chatName(network, chatJid(given.chat)),
  });

  app.post('/phones/:phone/messages', async (request, reply) => {
    const { to, text, id } = send.parse(request.body);
    const message = await phoneAt(request.params).sendText(chatJid(to), text, { id });
    return reply.status(201).send({ id: message.id });
  });
  app.get('/phones/:phone/messages', (request) => {
    return phoneAt(request.params)
      .messages.all(normal(filter.parse(request.query)))
      .map(shown);
  });
  app.post('/phones/:phone/messages/wait', async (request) => {
    const { timeoutMs, status: atLeast, ...given } = wait.parse(request.body ?? {});
    const message = await phoneAt(request.params).wait({ ...normal(given), status: atLeast }, timeoutMs);
    if (!message) throw new Refusal(408, `No such message within ${timeoutMs} ms.`);
    return shown(message);
  });
  app.post('/phones/:phone/read', (request) => {
    const { chat, ids } = read.parse(request.body);
    return { ids: phoneAt(request.params).read(chatName(network, chatJid(chat)), ids) };
  });
}

function shown(message: PhoneMessage): ShownMessage {
  const { content: _content, wireChat: _wireChat, wireAuthor: _wireAuthor, ...rest } = message;
  return rest;
}
