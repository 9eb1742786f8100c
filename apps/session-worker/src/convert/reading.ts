import type { Message, MessageType } from '@dormouse/gateway-contract';
import type { proto } from '@whiskeysockets/baileys';
import type { MediaIdOf } from './media-content.js';
import { toMediaId } from './media-id.js';
import { contactOf, type People } from './people.js';

/** What a reader of a part of a message has at hand. */
export interface Reading {
  readonly mediaId: MediaIdOf;
  /** The contact id of an address; undefined for what is no person's. */
  readonly contactOf: (jid: string | null | undefined) => string | undefined;
}

/** A message's type with what stands under its name in the wire shape. */
export interface Content {
  type: MessageType;
  /** Which kind of unknown message it is. */
  subtype?: string;
  fields: Partial<Message>;
  /** Quotes, mentions and forwards, in the network's form. */
  contextInfo: proto.IContextInfo | undefined;
}

/** A content of the given type. */
export function content<Type extends MessageType>(
  type: Type,
  value: Message[Type],
  contextInfo: proto.IContextInfo | null | undefined,
): Content {
  return { type, fields: { [type]: value }, contextInfo: contextInfo ?? undefined };
}

/** Reads a message whose file, if it has one, is named after the message with this public id. */
export function readingOf(messageId: string, people: People): Reading {
  return {
    mediaId: (extension) => toMediaId(extension, messageId),
    contactOf: (jid) => contactOf(jid, people),
  };
}
