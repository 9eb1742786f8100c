/**
 * Heard messages as customers see them. Pure: who is who (which number a LID belongs to) is found out before.
 */
import type { Message, MessageStatus } from '@dormouse/gateway-contract';
import type { MessageRecord } from '@dormouse/message-store/write';
import { getDevice, proto, WAMessageStatus, WAMessageStubType, type WAMessage } from '@whiskeysockets/baileys';
import { contentFromNetwork } from './content-from-network.js';
import { contextFromNetwork } from './context-from-network.js';
import { addressForms, bareJid, chatIdOfKey } from './jid.js';
import { toMessageId } from './message-id.js';
import { withNames } from './names-in-text.js';
import { authorOf, isOwn, type People } from './people.js';
import { toNumber } from './present.js';
import { readingOf, type Content } from './reading.js';
import { systemSentence } from './system-messages.js';

/** The parts of a heard message that hold for all of its kinds. */
export interface Heard {
  /** The wire shape as far as it does not depend on the content, whose type is not known yet. */
  base: Message;
  chatId: string;
  /** Where it is stored and how the network calls it. */
  record(message: Message): MessageRecord;
}

/**
 * What is common to every kind of message.
 * @returns undefined when it belongs to no chat (status updates, newsletters), to the linked devices among themselves
 * (peer messages), or cannot be read yet (a later message under the same key brings the content)
 */
export function readHeard(heard: WAMessage, people: People): Heard | undefined {
  const { key } = heard;
  const chatId = chatIdOfKey(key, people.numbers);
  if (!key.id || !key.remoteJid || chatId === undefined || heard.category === 'peer') return undefined;
  if (heard.messageStubType === WAMessageStubType.CIPHERTEXT) return undefined;
  // The library compares the author of a group's notice with the number alone (7.0.0-rc14, messages-recv.js:1242).
  const fromMe = key.fromMe || [key.participant, key.participantAlt].some((jid) => isOwn(jid, people));
  const author = fromMe ? people.own.phone : authorOf(key, people);
  const inGroup = chatId.endsWith('@g.us');
  const participant = inGroup && !fromMe && author !== undefined ? { participant: author } : {};
  const id = toMessageId({ keyId: key.id, fromMe, chatId, ...participant });
  const networkKey = {
    id: key.id,
    remote: bareJid(key.remoteJid),
    ...(inGroup && key.participant && { participant: bareJid(key.participant) }),
  };
  const status = fromMe ? statusFromNetwork(heard.status) : undefined;
  const base: Message = {
    id,
    type: 'unknown',
    from_me: fromMe,
    chat_id: chatId,
    timestamp: toNumber(heard.messageTimestamp) ?? 0,
    source: sourceOf(key.id),
    ...(status && { status }),
    ...(author !== undefined && { from: author }),
    ...(heard.pushName && { from_name: heard.pushName }),
  };
  return {
    base,
    chatId,
    record: (message) => ({
      message,
      key: networkKey,
      keyAliases: addressForms(key),
      ...(heard.message && { proto: proto.Message.encode(heard.message).finish() }),
    }),
  };
}

/**
 * A heard message that says something of its own, to be stored and told.
 * @returns undefined for messages that only change another one, and for what no person is shown
 */
export function messageFromNetwork(heard: WAMessage, people: People): MessageRecord | undefined {
  const read = readHeard(heard, people);
  if (!read) return undefined;
  const sentence = heard.message ? undefined : systemSentence(heard, people);
  if (sentence !== undefined) return read.record(systemMessage(read.base, sentence));
  if (!heard.message && heard.key.isViewOnce) return read.record(viewOnceNotice(read.base));
  const content = contentFromNetwork(heard.message, readingOf(read.base.id, people));
  return content ? read.record(withContent(read.base, content, people)) : undefined;
}

/** The wire shape of a message with this content. */
export function withContent(base: Message, content: Content, people: People): Message {
  const { type, subtype, fields, contextInfo } = content;
  const context = contextFromNetwork(contextInfo, base.chat_id, people);
  const named = withNames(fields, contextInfo?.mentionedJid, people);
  return { ...base, type, ...(subtype !== undefined && { subtype }), ...named, ...(context && { context }) };
}

/** The network gives linked devices notice of what can be seen once, and its content to the phone alone. */
function viewOnceNotice(base: Message): Message {
  return { ...base, type: 'unknown', subtype: 'view_once', unknown: { view_once: true } };
}

function systemMessage(base: Message, body: string): Message {
  const message: Message = { ...base, source: 'system', type: 'system', system: { body } };
  delete message.status;
  return message;
}

/** Which kind of device wrote a message: each makes its message ids in its own form. */
function sourceOf(keyId: string): Message['source'] {
  const device = getDevice(keyId);
  return device === 'web' || device === 'desktop' ? 'web' : 'mobile';
}

/** The status of an own message as the network numbers it. */
export function statusFromNetwork(status: number | null | undefined): MessageStatus | undefined {
  switch (status) {
    case WAMessageStatus.ERROR:
      return 'failed';
    case WAMessageStatus.PENDING:
      return 'pending';
    case WAMessageStatus.SERVER_ACK:
      return 'sent';
    case WAMessageStatus.DELIVERY_ACK:
      return 'delivered';
    case WAMessageStatus.READ:
      return 'read';
    case WAMessageStatus.PLAYED:
      return 'played';
    default:
      return undefined;
  }
}
