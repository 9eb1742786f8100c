import type { Stanza } from './api.js';

/**
 * A stanza as the control API shows it: JSON with one element a line. What stands there can be sent, as it is, with
 * `POST /phones/{phone}/stanzas`.
 */
export function stanzaText({ tag, attrs, content }: Stanza, indent = ''): string {
  const named = `${indent}{"tag": ${JSON.stringify(tag)}${attrs ? `, "attrs": ${JSON.stringify(attrs)}` : ''}`;
  if (content === undefined) return `${named}}`;
  if (!Array.isArray(content)) return `${named}, "content": ${JSON.stringify(content)}}`;
  const children = content.map((child) => stanzaText(child, `${indent}  `));
  return children.length === 0
    ? `${named}, "content": []}`
    : `${named}, "content": [\n${children.join(',\n')}\n${indent}]}`;
}
