/** Reads the key of an earlier message inside another message. */
import type { proto } from '@whiskeysockets/baileys';
import type { ReceivedMessage } from './message-from-network.js';
import { toMessageId } from './message-id.js';
import { contactOf, isOwn, type People } from './people.js';

/** The message that a key refers to. */
export interface Target {
  id: string;
  keyId: string;
  /** Contact id of its author, if the key has it. */
  author: string | undefined;
}

/** Reads a key that the library has rewritten to this side's point of view, as it does for reactions. */
export function targetOf(read: ReceivedMessage, key: proto.IMessageKey, people: People): Target {
  const fromMe = key.fromMe ?? false;
  return target(read, key, fromMe, fromMe ? people.own.phone : contactOf(key.participant, people));
}

/** Reads a key as it was received: from the sender's point of view. */
export function targetFromSender(read: ReceivedMessage, key: proto.IMessageKey, people: People): Target {
  const { base, chatId } = read;
  if (base.from_me) return targetOf(read, key, people);
  if (key.fromMe) return target(read, key, false, base.from);
  // In a chat of two, a message that is not the sender's is an own one.
  const fromMe = key.participant ? isOwn(key.participant, people) : !chatId.endsWith('@g.us');
  return target(read, key, fromMe, fromMe ? people.own.phone : contactOf(key.participant, people));
}

function target(
  { chatId }: ReceivedMessage,
  key: proto.IMessageKey,
  fromMe: boolean,
  author: string | undefined,
): Target {
  const keyId = key.id ?? '';
  const inGroup = chatId.endsWith('@g.us');
  const participant = inGroup && !fromMe && author !== undefined ? { participant: author } : {};
  return { id: toMessageId({ keyId, fromMe, chatId, ...participant }), keyId, author };
}
