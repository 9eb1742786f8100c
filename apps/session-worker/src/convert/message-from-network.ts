/**
 * Received messages as customers see them. Pure: the caller has resolved before which number each LID belongs to.
 */
import type { Message, MessageStatus } from '@dormouse/gateway-contract';
import type { MessageRecord } from '@dormouse/message-store/write';
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { contentFromNetwork } from './content-from-network.js';
import { contextFromNetwork } from './context-from-network.js';
import { addressForms, bareJid, chatIdOfKey } from './jid.js';
import { isWebClientId } from './library-opened.js';
import { toMessageId } from './message-id.js';
import { withNames } from './names-in-text.js';
import { authorOf, isOwn, type People } from './people.js';
import { toNumber } from './present.js';
import { readingOf, type Content } from './reading.js';
import { systemSentence } from './system-messages.js';

/** What all types of received messages have in common. */
export interface ReceivedMessage {
  /** The wire shape as far as it does not depend on the content, whose type is not known yet. */
  base: Message;
  chatId: string;
  /** The record to be stored, with the network's key of the message. */
  record(message: Message): MessageRecord;
}

/**
 * Reads what all types of messages have in common.
 * @returns undefined when the message belongs to no chat (status updates, newsletters), is between the account's own
 * devices (peer messages), or cannot be decrypted yet (a later message under the same key has the content)
 */
export function readReceived(received: WAMessage, people: People): ReceivedMessage | undefined {
  const { key } = received;
  const chatId = chatIdOfKey(key, people.numbers);
  if (!key.id || !key.remoteJid || chatId === undefined || received.category === 'peer') return undefined;
  if (received.messageStubType === proto.WebMessageInfo.StubType.CIPHERTEXT) return undefined;
  // The library compares the author of a group's notice with the own number only, not with the own LID (Baileys
  // 7.0.0-rc14, messages-recv.js:1242).
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
  const status = fromMe ? statusFromNetwork(received.status) : undefined;
  const base: Message = {
    id,
    type: 'unknown',
    from_me: fromMe,
    chat_id: chatId,
    timestamp: toNumber(received.messageTimestamp) ?? 0,
    source: sourceOf(key.id),
    ...(status && { status }),
    ...(author !== undefined && { from: author }),
    ...(received.pushName && { from_name: received.pushName }),
  };
  return {
    base,
    chatId,
    record: (message) => ({
      message,
      key: networkKey,
      keyAliases: addressForms(key),
      ...(received.message && { proto: proto.Message.encode(received.message).finish() }),
    }),
  };
}

/**
 * A received message with content of its own, to be stored and reported.
 * @returns undefined for messages that only change another one, and for those without content for a person
 */
export function messageFromNetwork(received: WAMessage, people: People): MessageRecord | undefined {
  const read = readReceived(received, people);
  if (!read) return undefined;
  const sentence = received.message ? undefined : systemSentence(received, people);
  if (sentence !== undefined) return read.record(systemMessage(read.base, sentence));
  if (!received.message && received.key.isViewOnce) return read.record(viewOnceNotice(read.base));
  const content = contentFromNetwork(received.message, readingOf(read.base.id, people));
  return content ? read.record(withContent(read.base, content, people)) : undefined;
}

/** The wire shape of a message with this content. */
export function withContent(base: Message, content: Content, people: People): Message {
  const { type, subtype, fields, contextInfo } = content;
  const context = contextFromNetwork(contextInfo, base.chat_id, people);
  const named = withNames(fields, contextInfo?.mentionedJid, people);
  return { ...base, type, ...(subtype !== undefined && { subtype }), ...named, ...(context && { context }) };
}

/** The network sends linked devices a notice of a view-once message; only the phone gets the content. */
function viewOnceNotice(base: Message): Message {
  return { ...base, type: 'unknown', subtype: 'view_once', unknown: { view_once: true } };
}

function systemMessage(base: Message, body: string): Message {
  const message: Message = { ...base, source: 'system', type: 'system', system: { body } };
  delete message.status;
  return message;
}

/** The kind of device that sent a message, by the form of its message id. */
function sourceOf(keyId: string): Message['source'] {
  return isWebClientId(keyId) ? 'web' : 'mobile';
}

const { Status } = proto.WebMessageInfo;

/** The status of an own message as the network numbers it. */
export function statusFromNetwork(status: number | null | undefined): MessageStatus | undefined {
  switch (status) {
    case Status.ERROR:
      return 'failed';
    case Status.PENDING:
      return 'pending';
    case Status.SERVER_ACK:
      return 'sent';
    case Status.DELIVERY_ACK:
      return 'delivered';
    case Status.READ:
      return 'read';
    case Status.PLAYED:
      return 'played';
    default:
      return undefined;
  }
}
