/**
 * The public id of a message: its key on the network, packed. Ids are not unpacked; messages are looked up by id.
 *
 * Segments of base64 without padding (`+` written `.`, `/` written `_`), joined by `-`:
 * 1. the bytes of the network's key id (hexadecimal on the wire);
 * 2. a flag byte, a check byte (sum of segment 1), and the chat's number, big-endian;
 * 3. only in chats with dashed group ids: the number after the dash;
 * 4. only for messages of others in groups: the author's number.
 * Flag: 0x80 always, 0x40 own, 0x20 the author is known by LID only, 0x10 an author follows, low nibble the kind of chat.
 *
 * A key that does not fit (an id that is not upper-case hexadecimal, a number with leading zeros or of more digits than
 * a segment holds) gets an id of the same form made of a hash, of the kind "stored".
 */
import { createHash } from 'node:crypto';
import { GROUP_SUFFIX, INDIVIDUAL_SUFFIX, LID_SUFFIX } from '@dormouse/gateway-contract';
import { contactJid, readJid } from './jid.js';

/** What identifies a message: its id on the network, its author and its chat. */
export interface MessageName {
  keyId: string;
  fromMe: boolean;
  /** Chat id: `<digits>@s.whatsapp.net`, `<group>@g.us` or `<digits>@lid`. */
  chatId: string;
  /** Contact id of the author; in groups, for messages of others. */
  participant?: string;
}

const ALWAYS = 0x80;
const OWN = 0x40;
const BY_LID = 0x20;
const AUTHOR = 0x10;

/** The kinds of chats, in the low nibble of the flag. */
const PERSON = 0;
const LID_PERSON = 1;
const GROUP = 2;
const DASHED_GROUP = 3;
const STORED = 8;

/** How many bytes the segments can hold under the pattern: 30, 14, 10 and 10 characters. */
const KEY_BYTES = { least: 3, most: 22 };
const CHAT_BYTES = 8;
const LATER_BYTES = 7;

/** The public id of a message. Equal names have equal ids, on every worker and after every restart. */
export function toMessageId(name: MessageName): string {
  return packed(name) ?? hashed(name);
}

function packed({ keyId, fromMe, chatId, participant }: MessageName): string | undefined {
  const keyBytes = keyIdBytes(keyId);
  const chat = chatNumbers(chatId);
  if (!keyBytes || !chat) return undefined;
  const author = participant === undefined ? undefined : readJid(contactJid(participant));
  const authorBytes = author && toBytes(author.user, LATER_BYTES);
  if (participant !== undefined && !authorBytes) return undefined;
  const flags =
    ALWAYS | (fromMe ? OWN : 0) | (author ? AUTHOR : 0) | (author?.server === LID_SUFFIX ? BY_LID : 0) | chat.kind;
  return join([keyBytes, head(flags, keyBytes, chat.number), chat.second, authorBytes]);
}

function hashed({ keyId, fromMe, chatId, participant }: MessageName): string {
  const hash = createHash('sha256')
    .update([keyId, String(fromMe), chatId, participant ?? ''].join('\n'))
    .digest();
  const keyBytes = hash.subarray(0, 12);
  return join([keyBytes, head(ALWAYS | (fromMe ? OWN : 0) | STORED, keyBytes, hash.subarray(12, 12 + CHAT_BYTES))]);
}

function head(flags: number, keyBytes: Buffer, number: Buffer): Buffer {
  return Buffer.concat([Buffer.from([flags, checkByte(keyBytes)]), number]);
}

function keyIdBytes(keyId: string): Buffer | undefined {
  const { least, most } = KEY_BYTES;
  if (!/^([0-9A-F]{2})+$/.test(keyId) || keyId.length < 2 * least || keyId.length > 2 * most) return undefined;
  return Buffer.from(keyId, 'hex');
}

/** The numbers of a chat id as bytes. */
function chatNumbers(chatId: string): { kind: number; number: Buffer; second?: Buffer } | undefined {
  const jid = readJid(chatId);
  const [first = '', second] = jid?.user.split('-') ?? [];
  const number = toBytes(first, CHAT_BYTES);
  if (!number) return undefined;
  if (second !== undefined) {
    const rest =
      jid?.server === GROUP_SUFFIX && jid.user === `${first}-${second}` ? toBytes(second, LATER_BYTES) : undefined;
    return rest && { kind: DASHED_GROUP, number, second: rest };
  }
  switch (jid?.server) {
    case INDIVIDUAL_SUFFIX:
      return { kind: PERSON, number };
    case LID_SUFFIX:
      return { kind: LID_PERSON, number };
    case GROUP_SUFFIX:
      return { kind: GROUP, number };
    default:
      return undefined;
  }
}

/** A decimal number as at least three big-endian bytes, so that each segment has the length that the pattern requires. */
function toBytes(digits: string, most: number): Buffer | undefined {
  if (!/^(0|[1-9]\d*)$/.test(digits)) return undefined;
  const hex = BigInt(digits).toString(16);
  const bytes = Buffer.from(hex.padStart(Math.max(6, hex.length + (hex.length % 2)), '0'), 'hex');
  return bytes.length <= most ? bytes : undefined;
}

function checkByte(bytes: Buffer): number {
  return bytes.reduce((sum, byte) => sum + byte, 0) & 0xff;
}

function join(segments: readonly (Buffer | undefined)[]): string {
  return segments
    .filter((segment) => segment !== undefined)
    .map((segment) => segment.toString('base64').replace(/=+$/, '').replaceAll('+', '.').replaceAll('/', '_'))
    .join('-');
}
