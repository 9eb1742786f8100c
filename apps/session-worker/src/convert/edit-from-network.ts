/** Edits: the new content of an earlier message. */
import type { Message, PollContent } from '@dormouse/gateway-contract';
import type { proto } from '@whiskeysockets/baileys';
import { actionRecord, type ReceivedAction } from './action-record.js';
import { contentFromNetwork } from './content-from-network.js';
import type { ReceivedMessage } from './message-from-network.js';
import { withNames } from './names-in-text.js';
import type { People } from './people.js';
import { readingOf, type Content } from './reading.js';

/** Types with a file. Only the caption of a file can be edited, and an edit repeats the other fields incompletely. */
const FILES: ReadonlySet<string> = new Set(['image', 'video', 'gif', 'short', 'audio', 'voice', 'document', 'sticker']);

/**
 * The edit of a message. It is applied only if it is from the message's author.
 * @param target public id and key of the edited message
 * @returns undefined when the edit has no content
 */
export function editAction(
  read: ReceivedMessage,
  target: { id: string; keyId: string },
  edited: proto.IMessage,
  people: People,
): ReceivedAction | undefined {
  const content = contentFromNetwork(edited, readingOf(target.id, people));
  return content && replacement(read, target, content.type, editedFields(content, people));
}

/** The action that replaces the content of an earlier message by the same author. */
export function replacement(
  read: ReceivedMessage,
  { id, keyId }: { id: string; keyId: string },
  type: string,
  fields: Record<string, unknown>,
): ReceivedAction {
  const { base, chatId } = read;
  const trigger = actionRecord(read, { type: 'edit', target: id, edited_type: type, edited_content: fields });
  const apply = (before: Message): Message | undefined => {
    if (before.from !== base.from || before.status === 'deleted') return undefined;
    const old = before[before.type];
    const kept = before.type === type && typeof old === 'object' && old !== null ? old : {};
    const after: Message = { ...before, type };
    delete after[before.type];
    Object.assign(after, { [type]: { ...kept, ...fields } });
    return before.poll && after.poll ? { ...after, poll: withVotesOf(before.poll, after.poll) } : after;
  };
  return { trigger, change: { trigger, target: { keyId, chatId }, apply } };
}

function editedFields(content: Content, people: People): Record<string, unknown> {
  const { type, contextInfo } = content;
  const value = withNames(content.fields, contextInfo?.mentionedJid, people)[type];
  if (typeof value !== 'object' || value === null) return {};
  if (!FILES.has(type)) return { ...value };
  return { caption: 'caption' in value ? value.caption : '' };
}

/** Options that exist before and after the edit keep their votes. */
function withVotesOf(before: PollContent, after: PollContent): PollContent {
  const results = (after.results ?? []).map((result) => before.results?.find(({ id }) => id === result.id) ?? result);
  return { ...after, results, total: results.reduce((sum, { count }) => sum + count, 0) };
}
