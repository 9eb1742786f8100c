import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { hangUp, ring } from '../delivery/calls.js';
import { setOwnPicture } from '../delivery/own-picture.js';
import { setAbout, setBlocked, setPrivacy } from '../delivery/own-settings.js';
import { setGroupPicture } from '../groups/group-picture.js';
import { sendTyping, setPhoneAvailable, typingNode } from '../delivery/presence.js';
import { Refusal } from '../network/refusal.js';
import { changeChat, nameContact, sharePushName } from '../phones/change-chats.js';
import { addHistory } from '../phones/seed-history.js';
import { chatName } from '../phones/chat-name.js';
import { SERVER } from '../wire/jid.js';
import { node } from '../wire/node.js';
import type { Phones } from '../phones/phones.js';
import { accountOf, chatJid, groupOf } from './lookup.js';

const atPhone = z.object({ phone: z.string() });
/** `null` removes it; with `group` it is the group's. */
export const pictureBody = z.object({ base64: z.string().nullable(), group: z.string().optional() });
export const privacyBody = z.record(z.string(), z.string());
export const blocking = z.object({ who: z.string(), blocked: z.boolean() });
export const availability = z.object({ available: z.boolean() });
export const typing = z.object({ to: z.string(), state: z.enum(['composing', 'recording', 'paused']) });
export const naming = z.object({ who: z.string(), name: z.string() });
export const pastBody = z.object({
  chats: z.array(z.string()).min(1),
  messagesPerChat: z.number().int().min(1).max(100_000),
  minutesApart: z.number().int().min(1).optional(),
});
export const ringing = z.object({ to: z.string(), video: z.boolean().default(false) });
export const nudging = z.object({ what: z.enum(['pre-keys-low', 'groups-dirty', 'account-dirty']) });
export const limitsBody = z.object({
  groupQueriesPerMinute: z.number().int().min(0).optional(),
  patchesPerAnswer: z.number().int().min(1).optional(),
  snapshotAfterPatches: z.number().int().min(0).optional(),
});
export const profileBody = z.object({ name: z.string().min(1).optional(), about: z.string().optional() });
export const chatChange = z.object({
  chat: z.string().min(1),
  archived: z.boolean().optional(),
  pinned: z.boolean().optional(),
  mutedUntilMs: z.number().int().min(-1).optional(),
  read: z.boolean().optional(),
  clear: z.boolean().optional(),
  delete: z.boolean().optional(),
  star: z.object({ id: z.string(), starred: z.boolean() }).optional(),
  deleteForMe: z.string().optional(),
});

/** What a person does at the phone besides writing: profile, presence, chats, contacts, calls. */
export function profileRoutes(app: FastifyInstance, phones: Phones): void {
  const { network } = phones;
  const account = (params: unknown) => accountOf(network, atPhone.parse(params).phone);

  app.post('/phones/:phone/profile', (request) => {
    const own = account(request.params);
    const { name, about } = profileBody.parse(request.body);
    if (name !== undefined) sharePushName(phones.of(own), name);
    if (about !== undefined) setAbout(network, own, about);
    own.changed();
    return { phone: own.phone, name: own.name, about: own.state.about.text };
  });
  app.post('/phones/:phone/picture', (request) => {
    const own = account(request.params);
    const { base64, group: id } = pictureBody.parse(request.body);
    const bytes = base64 === null ? undefined : Buffer.from(base64.replace(/^data:[^,]*,/, ''), 'base64');
    if (id === undefined) return { id: setOwnPicture(network, own, bytes) ?? null };
    return { id: setGroupPicture(network, groupOf(network, id), own, bytes) ?? null };
  });
  app.post('/phones/:phone/privacy', (request) => {
    const own = account(request.params);
    setPrivacy(network, own, privacyBody.parse(request.body));
    return own.state.privacy;
  });
  app.post('/phones/:phone/block', (request) => {
    const own = account(request.params);
    const { who, blocked } = blocking.parse(request.body);
    const other = accountOf(network, who);
    setBlocked(network, own, other, blocked);
    return { blocked: own.state.blocked.map((lid) => network.accounts.find(`${lid}@lid`)?.phone ?? lid) };
  });
  app.post('/phones/:phone/presence', (request) => {
    const { available } = availability.parse(request.body);
    setPhoneAvailable(network, account(request.params), available);
    return { available };
  });
  app.post('/phones/:phone/typing', (request) => {
    const body = typing.parse(request.body);
    sendTyping(network, { account: account(request.params), device: 0 }, chatJid(body.to), typingNode(body.state));
    return { state: body.state };
  });
}

/** Chats, address book, the past, calls, and limits of the network. */
export function chatRoutes(app: FastifyInstance, phones: Phones): void {
  const { network } = phones;
  const account = (params: unknown) => accountOf(network, atPhone.parse(params).phone);

  app.post('/phones/:phone/chats', (request) => {
    const { chat, ...change } = chatChange.parse(request.body);
    const phone = phones.of(account(request.params));
    const name = chatName(network, chatJid(chat));
    changeChat(phone, name, change);
    return phone.shared.chats[name] ?? {};
  });
  app.get('/phones/:phone/chats', (request) => phones.of(account(request.params)).chats());
  app.post('/phones/:phone/contacts', (request) => {
    const { who, name } = naming.parse(request.body);
    const phone = phones.of(account(request.params));
    nameContact(phone, chatName(network, chatJid(who)), name);
    return phone.shared.contacts;
  });
  app.post('/phones/:phone/history', (request) => {
    return { added: addHistory(phones.of(account(request.params)), pastBody.parse(request.body)) };
  });
  app.get('/phones/:phone/contacts', (request) => phones.of(account(request.params)).shared.contacts);
  app.post('/phones/:phone/calls', (request) => {
    const { to, video } = ringing.parse(request.body);
    return { id: ring(network, account(request.params), accountOf(network, to), video) };
  });
  app.delete('/phones/:phone/calls/:id', (request) => {
    const { id } = z.object({ id: z.string() }).parse(request.params);
    const { to } = z.object({ to: z.string() }).parse(request.query);
    hangUp(network, account(request.params), accountOf(network, to), id);
    return { ended: id };
  });
  app.post('/limits', (request) => Object.assign(network.limits, limitsBody.parse(request.body)).values());
  app.post('/phones/:phone/devices/:device/nudge', (request) => {
    const { device: id } = z.object({ device: z.coerce.number() }).parse(request.params);
    const { what } = nudging.parse(request.body);
    const device = account(request.params).devices.get(id);
    if (!device) throw new Refusal(404, `Device ${id} is not linked.`);
    if (what === 'pre-keys-low') {
      const attrs = { type: 'encrypt', from: SERVER, id: network.stanzaId(), t: network.timestamp() };
      device.deliver(node('notification', attrs, [node('count', { value: '2' })]));
    } else {
      const type = what === 'groups-dirty' ? 'groups' : 'account_sync';
      device.sendNow(node('ib', { from: SERVER }, [node('dirty', { type, timestamp: network.timestamp() })]));
    }
    return { what };
  });
}
