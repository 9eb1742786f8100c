/** Which message a key inside another message names. */
import type { proto } from '@whiskeysockets/baileys';
import type { Heard } from './message-from-network.js';
import { toMessageId } from './message-id.js';
import { contactOf, isOwn, type People } from './people.js';

/** The message a key inside another message names. */
export interface Target {
  id: string;
  keyId: string;
  /** Contact id of its author, if the key tells. */
  author: string | undefined;
}

/** Reads a key that the library has turned to this side's point of view, as it does for reactions. */
export function targetOf(read: Heard, key: proto.IMessageKey, people: People): Target {
  const fromMe = key.fromMe ?? false;
  return target(read, key, fromMe, fromMe ? people.own.phone : contactOf(key.participant, people));
}

/** Reads a key as it came: from its sender's point of view. */
export function targetFromSender(read: Heard, key: proto.IMessageKey, people: People): Target {
  const { base, chatId } = read;
  if (base.from_me) return targetOf(read, key, people);
  if (key.fromMe) return target(read, key, false, base.from);
  // Between two people it is either's: the sender's, or this side's.
  const fromMe = key.participant ? isOwn(key.participant, people) : !chatId.endsWith('@g.us');
  return target(read, key, fromMe, fromMe ? people.own.phone : contactOf(key.participant, people));
}

function target({ chatId }: Heard, key: proto.IMessageKey, fromMe: boolean, author: string | undefined): Target {
  const keyId = key.id ?? '';
  const inGroup = chatId.endsWith('@g.us');
  const participant = inGroup && !fromMe && author !== undefined ? { participant: author } : {};
  return { id: toMessageId({ keyId, fromMe, chatId, ...participant }), keyId, author };
}
