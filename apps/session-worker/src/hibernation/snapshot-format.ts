/**
 * A sleeping session as one object.
 *
 * Guarantee: a snapshot that opens is exactly what was sealed, for that channel and that generation. One that is incomplete,
 * changed or moved is refused with `UnsealableError`, never used in part. Its data key is stored in it, wrapped by a named
 * master key, so that master keys can be replaced without waking sessions.
 *
 * Layout: magic and version (5 bytes), length of the header (4, big-endian), header (JSON), sealed body (see
 * encryption/sealing.ts), SHA-256 of all before it (32). The body is the deflated JSON of the state.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { packText, unpackState, unpackText, type PlainState } from '../auth-state/plain-state.js';
import { openDataKey, sealDataKey, type MasterKeys, type WrappedKey } from '../encryption/data-keys.js';
import { open, seal, UnsealableError } from '../encryption/sealing.js';

const MAGIC = Buffer.from('DORM\u0001', 'latin1');
const LENGTH_BYTES = 4;
const CHECKSUM_BYTES = 32;

/** Identifies a snapshot. */
export interface SnapshotName {
  readonly channelId: string;
  /** Counts the sleeps of the channel, from 1. */
  readonly generation: number;
  /** Epoch of the ownership under which it was written. */
  readonly epoch: string;
}

interface Unsealed {
  readonly dataKey: Buffer;
  readonly wrapped: WrappedKey;
  /** The state, compressed. */
  readonly packed: Buffer;
}

export interface OpenedSnapshot extends Unsealed {
  readonly state: PlainState;
}

const header = z.object({
  channel: z.string(),
  generation: z.int(),
  epoch: z.string(),
  masterKeyId: z.string(),
  /** base64 */
  wrappedKey: z.string(),
});
type Header = z.output<typeof header>;

const placeOf = ({ channelId, generation, epoch }: SnapshotName): string =>
  `snapshot ${generation} of epoch ${epoch} of ${channelId}`;

/** @param text of the state, see `stateText` */
export async function sealSnapshot(
  name: SnapshotName,
  key: { dataKey: Buffer; wrapped: WrappedKey },
  text: Buffer,
): Promise<Buffer> {
  const body = seal(key.dataKey, placeOf(name), await packText(text));
  return assemble(headerOf(name, key.wrapped), body);
}

/** @throws {UnsealableError} when it is incomplete, is not the named one, or its key does not open */
export async function openSnapshot(master: MasterKeys, name: SnapshotName, bytes: Buffer): Promise<OpenedSnapshot> {
  const unsealed = unseal(master, name, bytes);
  return { ...unsealed, state: await unpackState(placeOf(name), unsealed.packed) };
}

/** The text of the state in a snapshot. @throws {UnsealableError} as {@link openSnapshot} */
export async function openSnapshotText(master: MasterKeys, name: SnapshotName, bytes: Buffer): Promise<Buffer> {
  return unpackText(placeOf(name), unseal(master, name, bytes).packed);
}

function unseal(master: MasterKeys, name: SnapshotName, bytes: Buffer): Unsealed {
  const place = placeOf(name);
  const parts = takeApart(place, bytes);
  assertNamed(parts.header, name);
  const wrapped = wrappedOf(parts.header);
  const dataKey = openDataKey(master, name.channelId, wrapped);
  return { dataKey, wrapped, packed: open(dataKey, place, parts.body) };
}

/**
 * The same snapshot with its data key wrapped by the current master key. The state is not opened.
 * @returns undefined when it is wrapped by that key already
 * @throws {UnsealableError}
 */
export function rewrapSnapshot(master: MasterKeys, name: SnapshotName, bytes: Buffer): Buffer | undefined {
  const { header: found, body } = takeApart(placeOf(name), bytes);
  assertNamed(found, name);
  if (found.masterKeyId === master.currentId) return undefined;
  const dataKey = openDataKey(master, name.channelId, wrappedOf(found));
  return assemble(headerOf(name, sealDataKey(master, name.channelId, dataKey)), body);
}

const wrappedOf = ({ masterKeyId, wrappedKey }: Header): WrappedKey => ({
  masterKeyId,
  wrappedKey: Buffer.from(wrappedKey, 'base64'),
});

const headerOf = ({ channelId, generation, epoch }: SnapshotName, wrapped: WrappedKey): Header => ({
  channel: channelId,
  generation,
  epoch,
  masterKeyId: wrapped.masterKeyId,
  wrappedKey: wrapped.wrappedKey.toString('base64'),
});

function assertNamed(found: Header, name: SnapshotName): void {
  const same = found.channel === name.channelId && found.generation === name.generation && found.epoch === name.epoch;
  if (!same) throw new UnsealableError(placeOf(name));
}

function assemble(given: Header, body: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify(given));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  const whole = Buffer.concat([MAGIC, length, text, body]);
  return Buffer.concat([whole, checksum(whole)]);
}

function takeApart(place: string, bytes: Buffer): { header: Header; body: Buffer } {
  const headerAt = MAGIC.length + LENGTH_BYTES;
  const endsAt = bytes.length - CHECKSUM_BYTES;
  if (endsAt < headerAt || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new UnsealableError(place);
  if (!timingSafeEqual(checksum(bytes.subarray(0, endsAt)), bytes.subarray(endsAt))) throw new UnsealableError(place);
  const bodyAt = headerAt + bytes.readUInt32BE(MAGIC.length);
  if (bodyAt > endsAt) throw new UnsealableError(place);
  return {
    header: readJson(place, header, bytes.subarray(headerAt, bodyAt)),
    body: bytes.subarray(bodyAt, endsAt),
  };
}

function readJson<T>(place: string, shape: z.ZodType<T>, bytes: Buffer): T {
  try {
    return shape.parse(JSON.parse(bytes.toString()));
  } catch {
    throw new UnsealableError(place);
  }
}

const checksum = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
