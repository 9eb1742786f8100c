/**
 * Notices of messages that can be seen once, whose content the network gives to the phone alone. They have two names; the
 * library hands one of them on as a message without content and drops the other without a word.
 */
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';

const DROPPED = 'view_once_unavailable_fanout';
const HANDED_ON = 'view_once';

/** Is the stanza a notice of what can be seen once, under either name? */
export function isViewOnceNotice({ content }: BinaryNode): boolean {
  const children = Array.isArray(content) ? content : [];
  return children.some(({ tag, attrs: { type } }) => tag === 'unavailable' && (type === DROPPED || type === HANDED_ON));
}

/** Gives every notice the name that is handed on. Before the library's own listener receives it. */
export function keepViewOnceNotices({ ws }: Pick<WASocket, 'ws'>): void {
  ws.prependListener('CB:message', ({ content }: BinaryNode) => {
    for (const { tag, attrs } of Array.isArray(content) ? content : []) {
      if (tag === 'unavailable' && attrs['type'] === DROPPED) attrs['type'] = HANDED_ON;
    }
  });
}
