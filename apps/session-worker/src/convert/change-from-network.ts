/**
 * Received messages that act on an earlier one: edits, deletions, reactions, comments, pins, cancelled planned calls;
 * and changes of a chat's timer for disappearing messages.
 */
import type { Message, MessageReaction } from '@dormouse/gateway-contract';
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { actionRecord, type ReceivedAction } from './action-record.js';
import { commentAction } from './comment-from-network.js';
import { editAction, replacement } from './edit-from-network.js';
import { openedByLibrary } from './library-opened.js';
import { readReceived, type ReceivedMessage } from './message-from-network.js';
import { toMessageId } from './message-id.js';
import { innerContent } from './opened-message.js';
import { contactOf, isOwn, type People } from './people.js';
import { targetFromSender, targetOf, type Target } from './target.js';

const ProtocolType = proto.Message.ProtocolMessage.Type;
const { EditType: CallEdit } = proto.Message.ScheduledCallEditMessage;

/**
 * Reads an action.
 * @returns undefined when the message is no action that customers are shown
 */
export function actionFromNetwork(received: WAMessage, people: People): ReceivedAction | undefined {
  const inner = innerContent(received.message);
  if (!inner || inner.conversation || inner.extendedTextMessage) return undefined;
  const {
    protocolMessage: protocol,
    reactionMessage: reaction,
    pinInChatMessage: pin,
    commentMessage: comment,
    scheduledCallEditMessage: call,
  } = inner;
  if (!protocol && !reaction && !pin && !comment && !call) return undefined;
  const read = readReceived(received, people);
  if (!read) return undefined;
  if (reaction?.key?.id) {
    // The library has rewritten the key to this side's point of view if it found the reaction itself, that is, in a
    // wrapper that it knows.
    const turned = openedByLibrary(received.message)?.reactionMessage === reaction;
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
  read: ReceivedMessage,
  protocol: proto.Message.IProtocolMessage,
  people: People,
): ReceivedAction | undefined {
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
function ownTargetOf({ base, chatId }: ReceivedMessage, keyId: string): { id: string; keyId: string } {
  const inGroup = chatId.endsWith('@g.us');
  const participant = inGroup && !base.from_me && base.from !== undefined ? { participant: base.from } : {};
  return { id: toMessageId({ keyId, fromMe: base.from_me, chatId, ...participant }), keyId };
}

/** @param emoji '' removes the reaction */
export function reactionAction(
  read: ReceivedMessage,
  target: Pick<Target, 'id' | 'keyId'>,
  emoji: string,
): ReceivedAction {
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

/** Each person has at most one reaction to a message; an empty one removes it. */
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
 * A deletion by the author, or in a group by an admin; the network permits no other. The key is from the sender's point
 * of view.
 */
function deleteAction(read: ReceivedMessage, key: proto.IMessageKey, people: People): ReceivedAction {
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
