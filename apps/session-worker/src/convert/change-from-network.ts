/** Heard messages that change an earlier one: edits, deletions, reactions, comments, what is pinned, and planned calls that are cancelled. */
import type { Message, MessageReaction } from '@dormouse/gateway-contract';
import { normalizeMessageContent, proto, type WAMessage } from '@whiskeysockets/baileys';
import { actionRecord, type HeardAction } from './action-record.js';
import { commentAction } from './comment-from-network.js';
import { editAction, replacement } from './edit-from-network.js';
import { readHeard, type Heard } from './message-from-network.js';
import { toMessageId } from './message-id.js';
import { innerContent } from './opened-message.js';
import { contactOf, isOwn, type People } from './people.js';
import { targetFromSender, targetOf, type Target } from './target.js';

const ProtocolType = proto.Message.ProtocolMessage.Type;
const { EditType: CallEdit } = proto.Message.ScheduledCallEditMessage;

/**
 * Reads an action.
 * @returns undefined when the message is none that a person is told
 */
export function actionFromNetwork(heard: WAMessage, people: People): HeardAction | undefined {
  const inner = innerContent(heard.message);
  if (!inner || inner.conversation || inner.extendedTextMessage) return undefined;
  const {
    protocolMessage: protocol,
    reactionMessage: reaction,
    pinInChatMessage: pin,
    commentMessage: comment,
    scheduledCallEditMessage: call,
  } = inner;
  if (!protocol && !reaction && !pin && !comment && !call) return undefined;
  const read = readHeard(heard, people);
  if (!read) return undefined;
  if (reaction?.key?.id) {
    // The library turns the keys of those that it finds itself.
    const turned = normalizeMessageContent(heard.message)?.reactionMessage === reaction;
    const target = (turned ? targetOf : targetFromSender)(read, reaction.key, people);
    return reactionAction(read, target, reaction.text ?? '');
  }
  if (pin?.key?.id) {
    const unpin = pin.type === proto.Message.PinInChatMessage.Type.UNPIN_FOR_ALL;
    const { id } = targetFromSender(read, pin.key, people);
    return { trigger: actionRecord(read, { type: unpin ? 'unpin' : 'pin', target: id }) };
  }
  if (comment?.targetMessageKey?.id) {
    const { id } = targetFromSender(read, comment.targetMessageKey, people);
    return commentAction(read, id, comment.message, people);
  }
  if (call?.key?.id && call.editType === CallEdit.CANCEL) {
    return replacement(read, targetFromSender(read, call.key, people), 'event', { is_canceled: true });
  }
  return protocol ? protocolAction(read, protocol, people) : undefined;
}

function protocolAction(
  read: Heard,
  protocol: proto.Message.IProtocolMessage,
  people: People,
): HeardAction | undefined {
  switch (protocol.type) {
    case ProtocolType.MESSAGE_EDIT:
      return protocol.key?.id && protocol.editedMessage
        ? editAction(read, ownTargetOf(read, protocol.key.id), protocol.editedMessage, people)
        : undefined;
    case ProtocolType.REVOKE:
      return protocol.key?.id ? deleteAction(read, protocol.key, people) : undefined;
    case ProtocolType.EPHEMERAL_SETTING:
      return { trigger: actionRecord(read, { type: 'ephemeral', ephemeral: protocol.ephemeralExpiration ?? 0 }) };
    default:
      return undefined;
  }
}

/** Only the author edits a message: the target has the author of the edit. */
function ownTargetOf({ base, chatId }: Heard, keyId: string): { id: string; keyId: string } {
  const inGroup = chatId.endsWith('@g.us');
  const participant = inGroup && !base.from_me && base.from !== undefined ? { participant: base.from } : {};
  return { id: toMessageId({ keyId, fromMe: base.from_me, chatId, ...participant }), keyId };
}

/** @param emoji '' takes the reaction back */
export function reactionAction(read: Heard, target: Pick<Target, 'id' | 'keyId'>, emoji: string): HeardAction {
  const trigger = actionRecord(read, { type: 'reaction', target: target.id, emoji });
  return {
    trigger,
    change: {
      trigger,
      target: { keyId: target.keyId, chatId: read.chatId },
      apply: (before) => withReaction(before, trigger.message, emoji),
    },
  };
}

/** Each person has one reaction at a message; an empty one takes it back. */
export function withReaction(
  before: Message,
  { id, from, timestamp, from_me: fromMe }: Message,
  emoji: string,
): Message {
  const others = (before.reactions ?? []).filter(({ author }) => author !== from);
  const mine: MessageReaction[] =
    emoji === ''
      ? []
      : [{ id, emoji, ...(from !== undefined && { author: from }), t: timestamp, unread: !fromMe, count: 1 }];
  const after: Message = { ...before, reactions: [...others, ...mine] };
  if (after.reactions?.length === 0) delete after.reactions;
  return after;
}

/**
 * The author deletes an own message, or an admin somebody else's in a group; the network lets nobody else do it. The key
 * is from the sender's point of view.
 */
function deleteAction(read: Heard, key: proto.IMessageKey, people: People): HeardAction {
  const { base, chatId } = read;
  const inGroup = chatId.endsWith('@g.us');
  const foreign = inGroup && key.fromMe !== true && Boolean(key.participant);
  const fromMe = foreign ? isOwn(key.participant, people) : base.from_me;
  const author = foreign ? contactOf(key.participant, people) : base.from;
  const participant = inGroup && !fromMe && author !== undefined ? { participant: author } : {};
  const keyId = key.id ?? '';
  const id = toMessageId({ keyId, fromMe, chatId, ...participant });
  const trigger = actionRecord(read, { type: 'delete', target: id });
  const apply = (before: Message): Message | undefined =>
    before.status !== 'deleted' && (inGroup || before.from === base.from)
      ? { ...before, status: 'deleted' }
      : undefined;
  return { trigger, change: { trigger, target: { keyId, chatId }, apply } };
}
