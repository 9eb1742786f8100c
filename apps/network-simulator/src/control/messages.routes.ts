import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { Refusal } from '../network/refusal.js';
import { LID_SERVER, PHONE_SERVER } from '../wire/jid.js';
import { download } from '../phones/attachments.js';
import { requestResend } from '../phones/incoming.js';
import type { MessageFilter } from '../phones/message-log.js';
import { chatName } from '../phones/chat-name.js';
import type { Phone } from '../phones/phone.js';
import type { Phones } from '../phones/phones.js';
import { draftBody, draftFrom } from './draft.js';
import { accountOf, chatJid } from './lookup.js';
import { messageView } from './message-view.js';

const MAX_WAIT_MS = 120_000;

const atPhone = z.object({ phone: z.string() });
const atMessage = z.object({ phone: z.string(), id: z.string() });
const status = z.enum(['pending', 'sent', 'delivered', 'read', 'played', 'error']);
export const messageFilter = z.object({
  id: z.string().optional(),
  text: z.string().optional(),
  chat: z.string().optional(),
  type: z.string().optional(),
  fromMe: z.union([z.boolean(), z.enum(['true', 'false']).transform((value) => value === 'true')]).optional(),
});
const timeoutMs = z.number().int().min(0).max(MAX_WAIT_MS).default(10_000);
export const messageWait = messageFilter.extend({ status: status.optional(), timeoutMs });
export const marking = z.object({ chat: z.string().min(1), ids: z.array(z.string()).optional() });
export const askingAgain = z.object({
  /** The message, which the phone need not have. */
  id: z.string().min(1),
  /** The number whose device gets the request, and which device. */
  of: z.string().min(1),
  device: z.number().int().min(0),
  /** How the two address each other. */
  as: z.enum(['number', 'lid']).default('number'),
});
export const eventFilter = z.object({
  kind: z.string().optional(),
  what: z.string().optional(),
  chat: z.string().optional(),
  from: z.string().optional(),
});
export const eventWait = eventFilter.extend({ timeoutMs });

/** What phones send, receive, read and notice. */
export function messageRoutes(app: FastifyInstance, phones: Phones): void {
  const { network } = phones;
  const phoneAt = (params: unknown): Phone => phones.of(accountOf(network, atPhone.parse(params).phone));
  const named = (chat: string): string => chatName(network, chatJid(chat));
  const normal = (given: z.infer<typeof messageFilter>): MessageFilter => ({
    ...given,
    chat: given.chat === undefined ? undefined : named(given.chat),
  });

  app.post('/phones/:phone/messages', async (request, reply) => {
    const body = draftBody.parse(request.body);
    const draft = await draftFrom(body);
    const message = await phoneAt(request.params).sendDraft(chatJid(body.to), draft, { id: body.id });
    return reply.status(201).send({ id: message.id });
  });
  app.get('/phones/:phone/messages', (request) => {
    const found = phoneAt(request.params).messages.all(normal(messageFilter.parse(request.query)));
    return found.map((message) => messageView(network, message));
  });
  app.get('/phones/:phone/messages/:id/file', async (request, reply) => {
    const { id } = atMessage.parse(request.params);
    const message = phoneAt(request.params).messages.get(id);
    if (!message) throw new Refusal(404, `The phone has no message ${id}.`);
    const { bytes, mimetype } = await download(network, message);
    return reply.header('content-type', mimetype).send(bytes);
  });
  app.post('/phones/:phone/messages/wait', async (request) => {
    const { timeoutMs: within, status: atLeast, ...given } = messageWait.parse(request.body ?? {});
    const message = await phoneAt(request.params).wait({ ...normal(given), status: atLeast }, within);
    if (!message) throw new Refusal(408, `No such message within ${within} ms.`);
    return messageView(network, message);
  });
  app.post('/phones/:phone/read', (request) => {
    const { chat, ids } = marking.parse(request.body);
    return { ids: phoneAt(request.params).read(named(chat), ids) };
  });
  app.post('/phones/:phone/play', (request) => {
    const { chat, ids } = marking.parse(request.body);
    return { ids: phoneAt(request.params).play(named(chat), ids) };
  });
  app.post('/phones/:phone/ask-again', (request, reply) => {
    const { id, of, device, as } = askingAgain.parse(request.body);
    const to = accountOf(network, of).jidLike(as === 'lid' ? LID_SERVER : PHONE_SERVER, device);
    requestResend(phoneAt(request.params), { id, to });
    return reply.status(202).send({ id, to });
  });
  app.get('/phones/:phone/events', (request) => {
    const given = eventFilter.parse(request.query);
    return phoneAt(request.params).events.all({ ...given, chat: given.chat && named(given.chat) });
  });
  app.post('/phones/:phone/events/wait', async (request) => {
    const { timeoutMs: within, ...given } = eventWait.parse(request.body ?? {});
    const event = await phoneAt(request.params).events.wait(
      { ...given, chat: given.chat && named(given.chat) },
      within,
    );
    if (!event) throw new Refusal(408, `No such event within ${within} ms.`);
    return event;
  });
}
