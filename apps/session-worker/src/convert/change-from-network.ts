/** Heard messages that change an earlier one: edits, deletions, reactions, and what is pinned. */
import type { ActionContent, Message, MessageReaction } from '@dormouse/gateway-contract';
import type { MessageChange, MessageRecord } from '@dormouse/message-store/write';
import { normalizeMessageContent, proto, type WAMessage } from '@whiskeysockets/baileys';
import { contentFromNetwork, type Content } from './content-from-network.js';
import { toMediaId } from './media-id.js';
import { readHeard, type Heard } from './message-from-network.js';
import { toMessageId } from './message-id.js';
import { contactOf, isOwn, type People } from './people.js';

const ProtocolType = proto.Message.ProtocolMessage.Type;

/** A change to a message that is there, or (without `change`) an action that changes none. */
export interface HeardAction {
  trigger: MessageRecord;
  change?: MessageChange;
}

/**
 * Reads an action.
 * @returns undefined when the message is none that a person is told
 */
export function actionFromNetwork(heard: WAMessage, people: People): HeardAction | undefined {
  const read = readHeard(heard, people);
  const inner = heard.message && normalizeMessageContent(heard.message);
  if (!read || !inner) return undefined;
  const { protocolMessage: protocol, reactionMessage: reaction, pinInChatMessage: pin } = inner;
  if (reaction?.key?.id) return reactionAction(read, reaction, people);
  if (pin?.key?.id) {
    const unpin = pin.type === proto.Message.PinInChatMessage.Type.UNPIN_FOR_ALL;
    return {
      trigger: actionRecord(read, { type: unpin ? 'unpin' : 'pin', target: targetOf(read, pin.key, people).id }),
    };
  }
  switch (protocol?.type) {
    case ProtocolType.MESSAGE_EDIT:
      return protocol.key?.id && protocol.editedMessage
        ? editAction(read, protocol.key.id, protocol.editedMessage)
        : undefined;
    case ProtocolType.REVOKE:
      return protocol.key?.id ? deleteAction(read, protocol.key, people) : undefined;
    case ProtocolType.EPHEMERAL_SETTING:
      return { trigger: actionRecord(read, { type: 'ephemeral', ephemeral: protocol.ephemeralExpiration ?? 0 }) };
    default:
      return undefined;
  }
}

/** An action as the message it is on the network. */
export function actionRecord(read: Heard, action: ActionContent): MessageRecord {
  return read.record({ ...read.base, type: 'action', action });
}

/** The message a key inside another message names. */
export interface Target {
  id: string;
  keyId: string;
  /** Contact id of its author, if the key tells. */
  author: string | undefined;
}

/**
 * Reads a key inside a reaction or pin: the library has turned it to this side's point of view. `fromMe` is the channel.
 */
export function targetOf(read: Heard, key: proto.IMessageKey, people: People): Target {
  const keyId = key.id ?? '';
  const fromMe = key.fromMe ?? false;
  const author = fromMe ? people.own.phone : contactOf(key.participant, people);
  const inGroup = read.chatId.endsWith('@g.us');
  const participant = inGroup && !fromMe && author !== undefined ? { participant: author } : {};
  return { id: toMessageId({ keyId, fromMe, chatId: read.chatId, ...participant }), keyId, author };
}

function reactionAction(read: Heard, reaction: proto.Message.IReactionMessage, people: People): HeardAction {
  const target = targetOf(read, reaction.key ?? {}, people);
  const emoji = reaction.text ?? '';
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

/** Only the author edits a message: the target has the author of the edit. */
function editAction(read: Heard, keyId: string, edited: proto.IMessage): HeardAction | undefined {
  const { base, chatId } = read;
  const inGroup = chatId.endsWith('@g.us');
  const participant = inGroup && !base.from_me && base.from !== undefined ? { participant: base.from } : {};
  const id = toMessageId({ keyId, fromMe: base.from_me, chatId, ...participant });
  const content = contentFromNetwork(edited, (extension) => toMediaId(extension, id));
  if (!content) return undefined;
  const editedContent = editedContentOf(content);
  const trigger = actionRecord(read, {
    type: 'edit',
    target: id,
    edited_type: content.type,
    edited_content: editedContent,
  });
  const apply = (before: Message): Message | undefined => {
    if (before.from !== base.from || before.status === 'deleted') return undefined;
    const old = before[before.type];
    const kept = before.type === content.type && typeof old === 'object' && old !== null ? old : {};
    const after: Message = { ...before, type: content.type };
    delete after[before.type];
    return Object.assign(after, { [content.type]: { ...kept, ...editedContent } });
  };
  return { trigger, change: { trigger, target: { keyId, chatId }, apply } };
}

/** Of a file only the caption can be edited, and the edit repeats the rest of it in part at most. */
function editedContentOf({ type, fields }: Content): Record<string, unknown> {
  const value = fields[type];
  if (typeof value !== 'object' || value === null) return {};
  if (!('mime_type' in value)) return { ...value };
  return { caption: 'caption' in value ? value.caption : '' };
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
