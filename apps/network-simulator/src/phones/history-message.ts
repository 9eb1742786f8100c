import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { isGroupJid, parseJid } from '../wire/jid.js';
import { decodeContent, unwrap } from './content.js';
import type { MessageStatus, PhoneMessage } from './message-log.js';
import type { PhoneContext } from './phone-context.js';
import { optionHash } from './sealed.js';

const { Status, StubType } = proto.WebMessageInfo;

const STATUS: Record<MessageStatus, number> = {
  error: Status.ERROR,
  pending: Status.PENDING,
  sent: Status.SERVER_ACK,
  delivered: Status.DELIVERY_ACK,
  read: Status.READ,
  played: Status.PLAYED,
};

/** The reactions and votes that a phone has, by the message that they are about; the later ones last. */
export type MessageAdditions = Map<string, PhoneMessage[]>;

export function additionsOf(phone: PhoneContext): MessageAdditions {
  const additions: MessageAdditions = new Map();
  for (const message of phone.messages.all()) {
    if (message.type !== 'reaction' && message.type !== 'poll_vote') continue;
    const { reactionMessage, pollUpdateMessage } = unwrap(decodeContent(message.content));
    const target = reactionMessage?.key?.id ?? pollUpdateMessage?.pollCreationMessageKey?.id ?? '';
    additions.set(target, [...(additions.get(target) ?? []), message]);
  }
  return additions;
}

/**
 * A message as histories carry it: how far it got, who reacted and voted, whether it is starred; of a deleted one only
 * that it is.
 */
export function webMessage(
  phone: PhoneContext,
  message: PhoneMessage,
  additions: MessageAdditions = additionsOf(phone),
): proto.IWebMessageInfo {
  const { wireAuthor } = message;
  const participant = isGroupJid(message.chat) && wireAuthor !== undefined ? { participant: bare(wireAuthor) } : {};
  const head = {
    key: keyOf(message),
    ...participant,
    messageTimestamp: message.timestamp,
    ...(message.fromMe && { status: STATUS[message.status] }),
    ...(message.pushName !== undefined && { pushName: message.pushName }),
  };
  if (message.deleted) return { ...head, messageStubType: StubType.REVOKE };
  const about = additions.get(message.id) ?? [];
  const isLatest = ({ from, type }: PhoneMessage, index: number): boolean =>
    !about.slice(index + 1).some((later) => later.from === from && later.type === type);
  const latest = about.filter(isLatest);
  return {
    ...head,
    message: decodeContent(message.content),
    reactions: latest.flatMap((reaction) => reactionOf(reaction, message)),
    pollUpdates: latest.flatMap((vote) => voteOf(vote, message)),
    ...(phone.shared.starred.includes(message.id) && { starred: true }),
  };
}

function keyOf(message: PhoneMessage): proto.IMessageKey {
  const { chat, fromMe, id, wireAuthor } = message;
  const participant = isGroupJid(chat) && wireAuthor !== undefined ? { participant: bare(wireAuthor) } : {};
  return { remoteJid: chat, fromMe, id, ...participant };
}

function reactionOf(reaction: PhoneMessage, target: PhoneMessage): proto.IReaction[] {
  const text = target.reactions?.[reaction.from];
  if (reaction.type !== 'reaction' || text === undefined) return [];
  return [{ key: keyOf(reaction), text, senderTimestampMs: reaction.timestamp * 1000 }];
}

function voteOf(vote: PhoneMessage, poll: PhoneMessage): proto.IPollUpdate[] {
  const options = poll.votes?.[vote.from];
  if (vote.type !== 'poll_vote' || options === undefined) return [];
  const senderTimestampMs = vote.timestamp * 1000;
  return [{ pollUpdateMessageKey: keyOf(vote), vote: { selectedOptions: options.map(optionHash) }, senderTimestampMs }];
}

function bare(jid: string): string {
  const { user, server } = parseJid(jid);
  return `${user}@${server}`;
}
