import { decodeBinaryNode, encodeBinaryNode } from '@whiskeysockets/baileys';
import { randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { SERVER } from './jid.js';
import { bytesOf, decodeNode, encodeNode, node, numberOf, textOf, type Node } from './node.js';

/** Addresses, tokens, digits, hexadecimal, plain text, bytes of every length class, nesting, empty lists. */
const STANZAS: Node[] = [
  node('iq', { type: 'result', id: '12.34-5', from: SERVER }),
  node('message', { from: '6591234567:12@s.whatsapp.net', id: '3EB0ABCDEF', t: '1795829530', notify: 'Zoë 🎉' }, [
    node('enc', { v: '2', type: 'pkmsg' }, randomBytes(300)),
    node('device-identity', {}, randomBytes(20)),
  ]),
  node('presence', { from: '123456789012345:3@lid', type: 'unavailable', last: 'deny' }),
  node(
    'list',
    {},
    Array.from({ length: 300 }, (_, index) => node('item', { id: String(index) })),
  ),
  node('blob', {}, randomBytes(1_100_000)),
  node('notification', { from: '120363000000000001@g.us', participant: '1@lid' }, []),
];

describe('stanzas on the wire', () => {
  it.each(STANZAS.map((stanza) => [stanza.tag, stanza] as const))(
    '%s: the client library reads what we write',
    async (_tag, stanza) => {
      const read = await decodeBinaryNode(Buffer.from(encodeNode(stanza)));
      expect(read.attrs).toEqual(stanza.attrs);
      expect(encodeNode(read as Node)).toEqual(encodeNode(stanza));
    },
  );

  it.each(STANZAS.map((stanza) => [stanza.tag, stanza] as const))(
    '%s: we read what the client library writes',
    (_tag, stanza) => {
      const read = decodeNode(encodeBinaryNode(stanza));
      expect(read.attrs).toEqual(stanza.attrs);
      expect(Buffer.from(encodeNode(read)).equals(Buffer.from(encodeNode(stanza)))).toBe(true);
    },
  );

  it('reads deflated frames', () => {
    const plain = encodeBinaryNode(node('iq', { id: 'x', type: 'get' }));
    const frame = Buffer.concat([Buffer.from([2]), deflateSync(plain.subarray(1))]);
    expect(decodeNode(frame)).toMatchObject({ tag: 'iq', attrs: { id: 'x', type: 'get' } });
  });

  it('reads content whichever way it was packed', () => {
    expect(textOf({ tag: 'x', attrs: {}, content: 'admin_add' })).toBe('admin_add');
    expect(textOf({ tag: 'x', attrs: {}, content: Buffer.from('admin_add') })).toBe('admin_add');
    expect(numberOf({ tag: 'x', attrs: {}, content: Buffer.from([1, 2, 3]) })).toBe(0x010203);
    expect(bytesOf({ tag: 'x', attrs: {}, content: [] })).toBeUndefined();
  });
});
