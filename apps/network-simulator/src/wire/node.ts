import { decodeDecompressedBinaryNode } from '@whiskeysockets/baileys/lib/WABinary/decode.js';
import * as tokens from '@whiskeysockets/baileys/lib/WABinary/constants.js';
import { encodeNode as encodeNatively } from 'whatsapp-rust-bridge';
import { inflateSync } from 'node:zlib';

/** A stanza, or a part of one: what travels inside every frame once the handshake is over. */
export interface Node {
  tag: string;
  attrs: Record<string, string>;
  content?: Node[] | Uint8Array | string;
}

/** Makes a node; attributes that are `undefined` are left out (the codec writes garbage for anything but strings). */
export function node(
  tag: string,
  attrs: Record<string, string | undefined> = {},
  content?: Node[] | Uint8Array | string,
): Node {
  const present: Record<string, string> = {};
  for (const key in attrs) {
    const value = attrs[key];
    if (value !== undefined) present[key] = value;
  }
  return content === undefined ? { tag, attrs: present } : { tag, attrs: present, content };
}

/** The child nodes; empty when the content is bytes, text or absent. */
export function children(parent: Node | undefined, tag?: string): Node[] {
  if (!parent || !Array.isArray(parent.content)) return [];
  return tag === undefined ? parent.content : parent.content.filter((child) => child.tag === tag);
}

/** The first child, or the first one with this tag. */
export function child(parent: Node | undefined, tag?: string): Node | undefined {
  if (!parent || !Array.isArray(parent.content)) return undefined;
  return tag === undefined ? parent.content[0] : parent.content.find((candidate) => candidate.tag === tag);
}

/** Content as bytes. Text that the codec packed into tokens, digits or an address comes back as its UTF-8 bytes. */
export function bytesOf(holder: Node | undefined): Buffer | undefined {
  const content = holder?.content;
  if (content === undefined || Array.isArray(content)) return undefined;
  return typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content);
}

/** Content as text, whichever way it was written. */
export function textOf(holder: Node | undefined): string | undefined {
  return bytesOf(holder)?.toString('utf8');
}

/** Content as a big-endian unsigned number. */
export function numberOf(holder: Node | undefined): number | undefined {
  const bytes = bytesOf(holder);
  return bytes?.reduce((total, byte) => total * 256 + byte, 0);
}

/** A number as big-endian bytes of a fixed width. */
export function bigEndian(value: number, width: number): Buffer {
  const bytes = Buffer.alloc(width);
  bytes.writeUIntBE(value, 0, width);
  return bytes;
}

/** The bytes of a stanza as they go into a frame, the leading flag byte (uncompressed) included. */
export function encodeNode(stanza: Node): Uint8Array {
  return encodeNatively(stanza);
}

/** Reads a frame's bytes: the first byte shows whether the rest is deflated. */
export function decodeNode(frame: Buffer): Node {
  const flags = frame[0] ?? 0;
  const body = frame.subarray(1);
  return decodeDecompressedBinaryNode(flags & 2 ? inflateSync(body) : body, tokens);
}
