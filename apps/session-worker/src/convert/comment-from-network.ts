/** Comments below a message of an announcement group. */
import type { proto } from '@whiskeysockets/baileys';
import { actionRecord, type ReceivedAction } from './action-record.js';
import { contentFromNetwork } from './content-from-network.js';
import type { ReceivedMessage } from './message-from-network.js';
import { withNames } from './names-in-text.js';
import type { People } from './people.js';
import { readingOf } from './reading.js';

/**
 * A comment, as an action with the comment's text.
 * @param target public id of the message that is commented on
 */
export function commentAction(
  read: ReceivedMessage,
  target: string,
  comment: proto.IMessage | null | undefined,
  people: People,
): ReceivedAction {
  const content = contentFromNetwork(comment, readingOf(read.base.id, people));
  const value = content && withNames(content.fields, content.contextInfo?.mentionedJid, people)[content.type];
  const text = typeof value === 'object' && value !== null ? bodyOf(value) : undefined;
  return { trigger: actionRecord(read, { type: 'comment', target, ...(text !== undefined && { comment: text }) }) };
}

function bodyOf(value: object): string | undefined {
  const body: unknown = 'body' in value ? value.body : 'caption' in value ? value.caption : undefined;
  return typeof body === 'string' ? body : undefined;
}
