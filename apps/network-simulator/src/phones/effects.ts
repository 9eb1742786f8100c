import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import type { Account } from '../network/account.js';
import { LID_SERVER, PHONE_SERVER } from '../wire/jid.js';
import { decodeContent, describe, encodeContent, unwrap } from './content.js';
import type { PhoneMessage } from './message-log.js';
import type { PhoneContext } from './phone-context.js';
import { pollOptions } from './poll-options.js';
import { openSeal, optionHash, type SealUse } from './sealed.js';

const { REVOKE, MESSAGE_EDIT, EPHEMERAL_SETTING } = proto.Message.ProtocolMessage.Type;
/** Answers to events, by their number. */
const ANSWERS = [undefined, 'going', 'not-going', 'maybe'] as const;
const NAMINGS: readonly (readonly [author: string, sender: string])[] = [
  [PHONE_SERVER, PHONE_SERVER],
  [LID_SERVER, LID_SERVER],
  [PHONE_SERVER, LID_SERVER],
  [LID_SERVER, PHONE_SERVER],
];

/**
 * Other messages that a message changes: reactions, edits, deletions and votes take effect on what they name, now or once
 * it is there.
 */
export function takeEffect(
  phone: PhoneContext,
  message: PhoneMessage,
  author: Account,
  received: proto.IMessage,
): void {
  const content = unwrap(received);
  if (content.protocolMessage?.type === EPHEMERAL_SETTING) setTimer(phone, message, content.protocolMessage);
  const { id } = targetOf(content) ?? {};
  if (id) {
    const effect = (): void => {
      const target = phone.messages.get(id);
      if (target) change(phone, message, target, author, content);
    };
    if (phone.messages.get(id)) effect();
    else phone.awaiting.add(id, effect);
  }
  phone.awaiting.arrived(message.id);
}

/** How long messages of a chat of two stay; of a group it is part of the group. */
function setTimer(
  phone: PhoneContext,
  { chat, timestamp }: PhoneMessage,
  setting: proto.Message.IProtocolMessage,
): void {
  const timer = { seconds: setting.ephemeralExpiration ?? 0, setAt: timestamp };
  phone.shared.chats[chat] = { ...phone.shared.chats[chat], timer };
  phone.account.changed();
}

/** The message that a content changes or adds to. */
export function targetOf(content: proto.IMessage): proto.IMessageKey | undefined {
  return (
    content.reactionMessage?.key ??
    content.protocolMessage?.key ??
    content.pollUpdateMessage?.pollCreationMessageKey ??
    content.secretEncryptedMessage?.targetMessageKey ??
    content.encEventResponseMessage?.eventCreationMessageKey ??
    content.encReactionMessage?.targetMessageKey ??
    content.encCommentMessage?.targetMessageKey ??
    undefined
  );
}

function change(
  phone: PhoneContext,
  message: PhoneMessage,
  target: PhoneMessage,
  author: Account,
  content: proto.IMessage,
): void {
  const protocol = content.protocolMessage;
  if (content.reactionMessage) {
    react(phone, target, author, content.reactionMessage.text ?? '');
  } else if (protocol?.type === REVOKE) revoke(phone, message, target, author);
  else if (protocol?.type === MESSAGE_EDIT && protocol.editedMessage) {
    edit(phone, message, target, author, protocol.editedMessage);
  } else if (content.pollUpdateMessage?.vote) vote(phone, target, author, content.pollUpdateMessage.vote);
  else openedChange(phone, message, target, author, content);
}

/** Sets somebody's reaction; an empty one is taken back. */
function react(phone: PhoneContext, target: PhoneMessage, author: Account, emoji: string): void {
  const { [author.phoneJid]: _previous, ...others } = target.reactions ?? {};
  phone.messages.change(target, { reactions: emoji === '' ? others : { ...others, [author.phoneJid]: emoji } });
}

function revoke(phone: PhoneContext, message: PhoneMessage, target: PhoneMessage, author: Account): void {
  const byAuthor = target.from === author.phoneJid;
  const group = phone.network.groups.find(target.chat);
  if (!byAuthor && !group?.isAdmin(author.lid)) return;
  if (message.timestamp - target.timestamp > phone.network.options.windows.deleteSeconds) return;
  phone.messages.change(target, { deleted: true, text: '' });
}

function edit(
  phone: PhoneContext,
  message: PhoneMessage,
  target: PhoneMessage,
  author: Account,
  edited: proto.IMessage,
): void {
  if (target.from !== author.phoneJid || target.deleted) return;
  if (message.timestamp - target.timestamp > phone.network.options.windows.editSeconds) return;
  phone.messages.change(target, {
    edited: true,
    text: describe(edited).text,
    content: encodeContent({ ...edited, ...secretOf(target) }),
  });
}

/** The secret of a message stays the same when it is edited: it can be edited again. */
function secretOf(message: PhoneMessage): Pick<proto.IMessage, 'messageContextInfo'> {
  const messageSecret = decodeContent(message.content).messageContextInfo?.messageSecret;
  return messageSecret?.length ? { messageContextInfo: { messageSecret } } : {};
}

function vote(phone: PhoneContext, poll: PhoneMessage, voter: Account, sealed: proto.Message.IPollEncValue): void {
  const plain = opened(phone, poll, voter, 'Poll Vote', sealed);
  if (!plain) return;
  const hashes = proto.Message.PollVoteMessage.decode(plain).selectedOptions.map((hash) =>
    Buffer.from(hash).toString('hex'),
  );
  const options = pollOptions(decodeContent(poll.content));
  const chosen = options.filter((option) => hashes.includes(optionHash(option).toString('hex')));
  phone.messages.change(poll, { votes: { ...poll.votes, [voter.phoneJid]: chosen } });
}

/** What phones of today encrypt once more with the secret of the message that it belongs to. */
function openedChange(
  phone: PhoneContext,
  message: PhoneMessage,
  target: PhoneMessage,
  author: Account,
  content: proto.IMessage,
): void {
  const { secretEncryptedMessage, encEventResponseMessage, encReactionMessage, encCommentMessage } = content;
  if (secretEncryptedMessage) {
    const plain = opened(phone, target, author, 'Message Edit', secretEncryptedMessage);
    const inner = plain && unwrap(proto.Message.decode(plain));
    const edited = inner?.protocolMessage?.editedMessage ?? inner;
    if (edited) edit(phone, message, target, author, edited);
  } else if (encEventResponseMessage) {
    const plain = opened(phone, target, author, 'Event Response', encEventResponseMessage);
    const answer = plain && ANSWERS[proto.Message.EventResponseMessage.decode(plain).response ?? 0];
    if (answer) phone.messages.change(target, { answers: { ...target.answers, [author.phoneJid]: answer } });
  } else if (encReactionMessage) {
    const plain = opened(phone, target, author, 'Enc Reaction', encReactionMessage);
    if (plain) react(phone, target, author, proto.Message.ReactionMessage.decode(plain).text ?? '');
  } else if (encCommentMessage) {
    // A comment stays a message of its own; its words can be read once its target is there.
    const plain = opened(phone, target, author, 'Enc Comment', encCommentMessage);
    if (plain) phone.messages.change(message, { text: describe(proto.Message.decode(plain)).text });
  }
}

/** The content of a sealed addition: its sender and the author may be under either naming in the key. */
function opened(
  phone: PhoneContext,
  target: PhoneMessage,
  sender: Account,
  use: SealUse,
  sealed: { encPayload?: Uint8Array | null; encIv?: Uint8Array | null },
): Buffer | undefined {
  const secret = decodeContent(target.content).messageContextInfo?.messageSecret;
  const author = phone.network.accounts.find(target.from);
  if (!secret?.length || !author) return undefined;
  for (const [authorServer, senderServer] of NAMINGS) {
    const names = { author: author.jidLike(authorServer), sender: sender.jidLike(senderServer) };
    const plain = openSeal(sealed, { use, id: target.id, secret, ...names });
    if (plain) return plain;
  }
  return undefined;
}
