import type { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { bareJid, isGroupJid, parseJid, PHONE_SERVER } from '../wire/jid.js';
import { bigEndian, bytesOf, children, node, type Node } from '../wire/node.js';
import { decodeContent, describe, encodeContent, hasContent } from './content.js';
import { takeEffect } from './effects.js';
import { namingOf } from './kinds/kind.js';
import type { PhoneMessage } from './message-log.js';
import { receivePeerMessage } from './peer-requests.js';
import { chatName } from './chat-name.js';
import type { PhoneContext } from './phone-context.js';
import { unpad, type DeviceAddress } from './signal.js';

const MAX_RETRIES = 5;

/** The content of a message, and the bytes it was read from. */
interface Received {
  content: proto.IMessage;
  bytes: Buffer;
}

/** A message stanza reaches the phone: decrypt, store, confirm; request again what cannot be read. */
export async function receiveMessage(phone: PhoneContext, stanza: Node): Promise<void> {
  const id = stanza.attrs['id'] ?? '';
  const author = authorOf(phone, stanza);
  if (!author) return;
  const known = phone.messages.get(id);
  let received: Received | undefined;
  try {
    received = await decrypt(phone, author, stanza);
  } catch (error) {
    if (!known) {
      const { phone: number } = phone.account;
      const from = author.account.jidLike(PHONE_SERVER, author.device);
      phone.network.log.debug({ phone: number, id, from, reason: String(error) }, 'a message is unreadable');
      requestAgain(phone, stanza, id);
      return;
    }
  }
  phone.unreadable.delete(id);
  if (known) {
    phone.messages.change(known, { deliveries: known.deliveries + 1 });
    confirm(phone, known);
    return;
  }
  if (!received) return;
  const { deviceSentMessage } = received.content;
  const content = deviceSentMessage?.message ?? received.content;
  if (stanza.attrs['category'] === 'peer') {
    await receivePeerMessage(phone, author, id, content);
    return;
  }
  const message = keep(phone, author, stanza, received);
  takeEffect(phone, message, author.account, content);
  confirm(phone, message);
}

function authorOf(phone: PhoneContext, stanza: Node): DeviceAddress | undefined {
  const jid = stanza.attrs['participant'] ?? stanza.attrs['from'] ?? '';
  const account = phone.network.accounts.find(jid);
  return account && { account, device: parseJid(jid).device };
}

async function decrypt(phone: PhoneContext, author: DeviceAddress, stanza: Node): Promise<Received | undefined> {
  let received: Received | undefined;
  for (const enc of children(stanza, 'enc')) {
    const sealed = bytesOf(enc) ?? Buffer.alloc(0);
    const type = enc.attrs['type'] ?? 'msg';
    const group = stanza.attrs['from'] ?? '';
    const plain =
      type === 'skmsg'
        ? await phone.groupSessions.decrypt(group, author, sealed)
        : await phone.sessions.decrypt(author, type, sealed);
    const bytes = unpad(plain);
    const part = decodeContent(bytes);
    const key = part.senderKeyDistributionMessage;
    if (key?.axolotlSenderKeyDistributionMessage) {
      await phone.groupSessions.learn(key.groupId ?? group, author, key.axolotlSenderKeyDistributionMessage);
    }
    // The part that only shares a key has no content of its own; a resend carries both.
    if (hasContent(part) || !received) received = { content: part, bytes };
  }
  return received;
}

/** Stores a message: another person's, or one that a companion of ours sent. */
function keep(phone: PhoneContext, author: DeviceAddress, stanza: Node, received: Received): PhoneMessage {
  const fromMe = author.account === phone.account;
  const sent = received.content.deviceSentMessage;
  const content = sent?.message ?? received.content;
  const from = stanza.attrs['from'] ?? '';
  const ownChat = stanza.attrs['recipient'] ?? sent?.destinationJid ?? '';
  const wireChat = fromMe && !isGroupJid(from) ? ownChat : bareJid(from);
  const pushName = stanza.attrs['notify'];
  const participant = stanza.attrs['participant'];
  return phone.messages.add({
    id: stanza.attrs['id'] ?? '',
    chat: chatName(phone.network, wireChat),
    from: author.account.phoneJid,
    fromMe,
    ...describe(content),
    timestamp: Number(stanza.attrs['t'] ?? phone.network.timestamp()),
    deliveries: 1,
    status: fromMe ? 'sent' : 'delivered',
    content: sent?.message ? encodeContent(sent.message) : received.bytes,
    wireChat,
    ...(participant !== undefined && { wireAuthor: participant }),
    ...(pushName !== undefined && { pushName }),
  });
}

function confirm(phone: PhoneContext, message: PhoneMessage): void {
  if (!message.fromMe && phone.settings.autoDeliver) phone.sendReceipt(undefined, [message]);
}

function requestAgain(phone: PhoneContext, stanza: Node, id: string): void {
  const count = (phone.unreadable.get(id)?.requests ?? 0) + 1;
  phone.unreadable.set(id, { requests: count, isPeerRequest: stanza.attrs['category'] === 'peer' });
  if (count > MAX_RETRIES) return;
  const { from: to, participant, recipient, t } = stanza.attrs;
  requestResend(phone, { id, to, participant, recipient, t }, count);
}

/** Requests another copy of a message in a chat (a person's address, or a group's) from the device that wrote it. */
export function requestResendFromAuthor(
  phone: PhoneContext,
  { id, author, chat }: { id: string; author: DeviceAddress; chat: string },
): void {
  const device = author.account.jidLike(namingOf(phone, chat), author.device);
  // An own device needs the chat: it answers by sending to everybody there again.
  const recipient = author.account === phone.account ? chat : undefined;
  requestResend(phone, isGroupJid(chat) ? { id, to: chat, participant: device } : { id, to: device, recipient });
}

/** Requests another copy of a message from the device that sent it. */
export function requestResend(
  phone: PhoneContext,
  { id, t, ...place }: { id: string } & Partial<Record<'to' | 'participant' | 'recipient' | 't', string | undefined>>,
  count = 1,
): void {
  phone.receipt({ id, type: 'retry', ...place }, [
    node('retry', { count: String(count), id, t: t ?? phone.network.timestamp(), v: '1' }),
    node('registration', {}, bigEndian(phone.account.keys().registrationId, 4)),
  ]);
}
