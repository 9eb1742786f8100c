import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import type { Account } from '../network/account.js';
import { LID_SERVER, PHONE_SERVER } from '../wire/jid.js';
import { decodeContent, describe, encodeContent, unwrap } from './content.js';
import type { PhoneMessage } from './message-log.js';
import type { PhoneContext } from './phone-context.js';
import { openVote, optionHash } from './poll-votes.js';

const { REVOKE, MESSAGE_EDIT, EPHEMERAL_SETTING } = proto.Message.ProtocolMessage.Type;

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
  const { reactionMessage, protocolMessage, pollUpdateMessage } = content;
  const { id } = reactionMessage?.key ?? protocolMessage?.key ?? pollUpdateMessage?.pollCreationMessageKey ?? {};
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

function change(
  phone: PhoneContext,
  message: PhoneMessage,
  target: PhoneMessage,
  author: Account,
  content: proto.IMessage,
): void {
  const protocol = content.protocolMessage;
  if (content.reactionMessage) {
    const { [author.phoneJid]: _previous, ...others } = target.reactions ?? {};
    const emoji = content.reactionMessage.text ?? '';
    phone.messages.change(target, { reactions: emoji === '' ? others : { ...others, [author.phoneJid]: emoji } });
  } else if (protocol?.type === REVOKE) revoke(phone, message, target, author);
  else if (protocol?.type === MESSAGE_EDIT && protocol.editedMessage) {
    edit(phone, message, target, author, protocol.editedMessage);
  } else if (content.pollUpdateMessage?.vote) vote(phone, target, author, content.pollUpdateMessage.vote);
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
  phone.messages.change(target, { edited: true, text: describe(edited).text, content: encodeContent(edited) });
}

function vote(phone: PhoneContext, poll: PhoneMessage, voter: Account, sealed: proto.Message.IPollEncValue): void {
  const content = decodeContent(poll.content);
  const secret = content.messageContextInfo?.messageSecret;
  const creator = phone.network.accounts.find(poll.from);
  if (!secret || !creator) return;
  const namings: [string, string][] = [
    [PHONE_SERVER, PHONE_SERVER],
    [LID_SERVER, LID_SERVER],
    [PHONE_SERVER, LID_SERVER],
    [LID_SERVER, PHONE_SERVER],
  ];
  for (const [creatorServer, voterServer] of namings) {
    const context = {
      pollId: poll.id,
      secret,
      creator: creator.jidLike(creatorServer),
      voter: voter.jidLike(voterServer),
    };
    const hashes = openVote(sealed, context);
    if (!hashes) continue;
    const chosen = pollOptions(content).filter((option) => hashes.includes(optionHash(option).toString('hex')));
    phone.messages.change(poll, { votes: { ...poll.votes, [voter.phoneJid]: chosen } });
    return;
  }
}

/** The options of a poll message; empty for anything else. */
export function pollOptions(content: proto.IMessage): string[] {
  return (pollIn(content)?.options ?? []).map(({ optionName }) => optionName ?? '');
}

/** How many options of a poll message one may choose; 0: any number. */
export function selectableOptions(content: proto.IMessage): number {
  return pollIn(content)?.selectableOptionsCount ?? 0;
}

function pollIn(content: proto.IMessage): proto.Message.IPollCreationMessage | undefined {
  const inner = unwrap(content);
  return inner.pollCreationMessage ?? inner.pollCreationMessageV2 ?? inner.pollCreationMessageV3 ?? undefined;
}
