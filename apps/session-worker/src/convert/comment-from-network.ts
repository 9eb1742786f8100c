/** Comments: what people say below a message of an announcement. */
import type { proto } from '@whiskeysockets/baileys';
import { actionRecord, type HeardAction } from './action-record.js';
import { contentFromNetwork } from './content-from-network.js';
import type { Heard } from './message-from-network.js';
import { withNames } from './names-in-text.js';
import type { People } from './people.js';
import { readingOf } from './reading.js';

/**
 * A comment, told by its words.
 * @param target public id of the message it stands below
 */
export function commentAction(
  read: Heard,
  target: string,
  said: proto.IMessage | null | undefined,
  people: People,
): HeardAction {
  const content = contentFromNetwork(said, readingOf(read.base.id, people));
  const value = content && withNames(content.fields, content.contextInfo?.mentionedJid, people)[content.type];
  const words = typeof value === 'object' && value !== null ? wordsOf(value) : undefined;
  return { trigger: actionRecord(read, { type: 'comment', target, ...(words !== undefined && { comment: words }) }) };
}

function wordsOf(value: object): string | undefined {
  const words: unknown = 'body' in value ? value.body : 'caption' in value ? value.caption : undefined;
  return typeof words === 'string' ? words : undefined;
}
