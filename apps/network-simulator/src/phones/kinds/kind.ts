import type { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import type { z } from 'zod';
import { Refusal } from '../../network/refusal.js';
import { isGroupJid, parseJid } from '../../wire/jid.js';
import { decodeContent } from '../content.js';
import type { PhoneMessage } from '../message-log.js';
import type { PhoneContext } from '../phone-context.js';
import { seal, type Sealed, type SealUse } from '../sealed.js';

/** A message that is ready to be encrypted. */
export interface Composed {
  content: proto.IMessage;
  /** Its bytes, when there is more in them than the library can name. */
  bytes?: Buffer;
  /** The stanza's `edit` attribute. */
  edit?: string;
}

/** Where a message of a kind is composed. */
export interface KindPlace {
  phone: PhoneContext;
  chat: string;
  /** Quotes, mentions, advertisements. */
  contextInfo: proto.IContextInfo | undefined;
}

/** A kind of message with a name: what is given of it, and the content that it makes. */
export interface Kind<S extends z.ZodType = z.ZodType> {
  schema: S;
  /** Throws a ZodError when the given does not fit the schema, and {@link Refusal} when it fits nothing on the phone. */
  compose(given: unknown, place: KindPlace): Composed;
}

/** Describes a kind. */
export function kind<S extends z.ZodType>(
  schema: S,
  compose: (given: z.output<S>, place: KindPlace) => Composed,
): Kind<S> {
  return { schema, compose: (given, place) => compose(schema.parse(given), place) };
}

/** The message with this id. Throws {@link Refusal} 404 when the phone does not have it. */
export function storedMessage(phone: PhoneContext, id: string): PhoneMessage {
  const message = phone.messages.get(id);
  if (!message) throw new Refusal(404, `The phone has no message ${id}.`);
  return message;
}

/** Which server's addresses a chat uses. */
export function namingOf(phone: PhoneContext, chat: string): string {
  if (!isGroupJid(chat)) return parseJid(chat).server;
  return phone.network.groups.find(chat)?.state.addressing === 'pn' ? 's.whatsapp.net' : 'lid';
}

/** The name of a message as its receivers know it: from the sender's point of view. */
export function keyOf(phone: PhoneContext, message: PhoneMessage, chat: string): proto.IMessageKey {
  const author = phone.network.accounts.find(message.from);
  return {
    remoteJid: chat,
    id: message.id,
    fromMe: message.fromMe,
    ...(isGroupJid(chat) && !message.fromMe && author && { participant: author.jidLike(namingOf(phone, chat)) }),
  };
}

/** Seals an addition to a message that the phone has. Throws {@link Refusal} 400 when that message has no secret. */
export function sealFor(
  { phone, chat }: Pick<KindPlace, 'phone' | 'chat'>,
  target: PhoneMessage,
  use: SealUse,
  plain: Uint8Array,
): Sealed {
  const secret = decodeContent(target.content).messageContextInfo?.messageSecret;
  if (!secret?.length) throw new Refusal(400, `Message ${target.id} has no secret: nothing can be sealed for it.`);
  const server = namingOf(phone, chat);
  const author = phone.network.accounts.find(target.from)?.jidLike(server) ?? target.from;
  return seal(plain, { use, id: target.id, secret, author, sender: phone.account.jidLike(server) });
}
