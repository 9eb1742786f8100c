/** Sent files as customers see them. Pure. */
import type { proto } from '@whiskeysockets/baileys';
import { contentFromNetwork } from './content-from-network.js';
import type { Composed } from './plain-to-network.js';

/**
 * A sent file as its receiver would see it, with the id and link of the channel's stored file.
 * @param content the message, wrappers included
 */
export function shownFile(content: proto.IMessage, file: { id: string; link: string }): Composed['shown'] {
  const shown = contentFromNetwork(content, { mediaId: () => file.id, contactOf: () => undefined });
  if (!shown) throw new Error('a message without content');
  const { type, fields } = shown;
  const value = fields[type];
  return { type, [type]: { ...(typeof value === 'object' ? value : {}), link: file.link } };
}

/** `#rrggbb` or `#aarrggbb` as a number; a colour without alpha is opaque. */
export function colorToNetwork(color: string | undefined): number | undefined {
  if (color === undefined) return undefined;
  const digits = color.slice(1);
  return digits.length <= 6 ? (0xff000000 | Number.parseInt(digits, 16)) >>> 0 : Number.parseInt(digits, 16);
}
