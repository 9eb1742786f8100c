import { proto, type AnyMessageContent } from '@whiskeysockets/baileys';
import type { Group } from '../network/group.js';
import type { Draft } from '../phones/compose.js';
import { optionHash, seal } from '../phones/sealed.js';
import { LID_SERVER, PHONE_SERVER } from '../wire/jid.js';
import type { Client } from './client.js';
import type { Person } from './random-people.js';

export type Kind = 'text' | 'file' | 'poll' | 'reaction' | 'vote' | 'edit' | 'deletion';

/** Who has to get a message: the person's phone, and the client that was linked when it was sent. */
export interface Reader {
  person: Person;
  client: Person['client'];
  /** The client that wrote it had not learned yet that this client is linked. */
  isUnawareOfDevice: boolean;
}

/** A message that the network acknowledged. */
export interface Sent {
  id: string;
  kind: Kind;
  /** The words of a text, the emoji of a reaction, the new words of an edit, the option of a vote. */
  text: string;
  bytes?: Buffer;
  chat: string;
  author: Person;
  byClient: boolean;
  readers: Reader[];
  /** When it was begun and when it was acknowledged, in milliseconds. */
  fromMs: number;
  untilMs: number;
  /** The message that this one changes. */
  target?: Sent;
  /** Nothing else edits or deletes a message that was edited, deleted, or may have been. */
  changed?: boolean;
}

/** What is to be written, where, and who has to get it. */
export interface Plan {
  kind: Kind;
  text: string;
  chat: string;
  group?: Group | undefined;
  to: Person[];
  bytes?: Buffer;
  target?: Sent;
}

/** What every poll offers. */
export const POLL_OPTIONS = ['Rice', 'Noodles', 'Bread'];

/** A plan as the library takes it; votes are none of its contents (see {@link voteOf}). */
export function contentOf({ kind, text, bytes, target }: Plan): AnyMessageContent {
  if (kind === 'file' && bytes) return { document: bytes, mimetype: 'application/octet-stream', fileName: text };
  if (kind === 'poll') return { poll: { name: text, values: POLL_OPTIONS, selectableCount: 1 } };
  if (!target) return { text };
  if (kind === 'reaction') return { react: { text, key: keyOf(target, undefined) } };
  const own = keyOf(target, target.author);
  return kind === 'edit' ? { text, edit: own } : { delete: own };
}

/** A vote as a client makes it, which needs the poll's secret. Throws when the client does not have the poll. */
export function voteOf({ text, chat, group, target }: Plan, author: Person, client: Client): proto.IMessage {
  const secret = target && pollSecret(client, target.id);
  if (!target || !secret) throw new Error('The client does not have the poll.');
  const server = group?.state.addressing === 'pn' || chat.endsWith(PHONE_SERVER) ? PHONE_SERVER : LID_SERVER;
  const plain = proto.Message.PollVoteMessage.encode({ selectedOptions: [optionHash(text)] }).finish();
  const vote = seal(plain, {
    use: 'Poll Vote',
    id: target.id,
    secret,
    author: target.author.phone.account.jidLike(server),
    sender: author.phone.account.jidLike(server),
  });
  const pollCreationMessageKey = keyOf(target, author);
  return { pollUpdateMessage: { pollCreationMessageKey, vote, senderTimestampMs: Date.now() } };
}

/** The secret of a poll that a client has. */
export function pollSecret(client: Client, id: string): Uint8Array | undefined {
  const poll = client.messages.find(({ message }) => message.key.id === id && message.message);
  return poll?.message.message?.messageContextInfo?.messageSecret ?? undefined;
}

/** A plan as somebody puts it together at the phone. */
export function draftOf({ kind, text, bytes, target }: Plan): Draft {
  if (kind === 'file' && bytes) return { document: { bytes, mimetype: 'application/octet-stream', fileName: text } };
  if (kind === 'poll') return { poll: { name: text, options: POLL_OPTIONS } };
  if (!target) return { text };
  if (kind === 'reaction') return { reaction: { id: target.id, emoji: text } };
  if (kind === 'vote') return { vote: { id: target.id, options: [text] } };
  return kind === 'edit' ? { edit: { id: target.id, text } } : { delete: { id: target.id } };
}

function keyOf({ id, chat, author }: Sent, reader: Person | undefined) {
  const group = chat.endsWith('@g.us');
  const fromMe = reader === author;
  return {
    id,
    remoteJid: group || fromMe ? chat : author.phone.account.phoneJid,
    fromMe,
    ...(group && { participant: author.phone.account.lidJid }),
  };
}
