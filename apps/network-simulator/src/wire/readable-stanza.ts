import { node, type Node } from './node.js';

/** A stanza as JSON: bytes as base64, text as it is. */
export interface ReadableStanza {
  tag: string;
  attrs?: Record<string, string> | undefined;
  content?: ReadableStanza[] | string | { base64: string } | undefined;
}

/** Printable text, and nothing that the decoder had to replace. */
const TEXT = /^[^\p{Cc}\p{Cn}\ufffd]+$/u;

/** A stanza for people to read. */
export function readable({ tag, attrs, content }: Node): ReadableStanza {
  return { tag, attrs, ...(content !== undefined && { content: readableContent(content) }) };
}

function readableContent(content: NonNullable<Node['content']>): NonNullable<ReadableStanza['content']> {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(readable);
  const bytes = Buffer.from(content);
  const text = bytes.toString('utf8');
  return TEXT.test(text) ? text : { base64: bytes.toString('base64') };
}

/** The stanza that somebody wrote down. */
export function stanzaFrom({ tag, attrs, content }: ReadableStanza): Node {
  if (content === undefined) return node(tag, attrs);
  if (Array.isArray(content)) return node(tag, attrs, content.map(stanzaFrom));
  return node(tag, attrs, typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.base64, 'base64'));
}
