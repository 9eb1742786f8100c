/**
 * The pre-keys of a session that was woken: one row in place of some 800, of which it uses one or two before it sleeps again.
 *
 * What it guarantees: the packed row is a state with all pre-keys that the session fell asleep with, and is never changed; only
 * its pre-keys are read. It is the state as it was sealed, which costs a wake nothing, or, where most of that is something else
 * (a number with many contacts), one that was made of the pre-keys alone: it is never much larger than they are. What is in a row of its own is newer: another value, or an empty one for a pre-key that was removed. So
 * rows and packed row together are the whole state at any moment, and every change is one row, durable by itself.
 */
import { packText, stateText, unpackState, type PlainKey, type PlainState } from './plain-state.js';

/** The packed row. */
export const PACKED = { type: 'packed-state', id: 'pre-key' } as const;
/** The type of keys that is read from it. */
export const PRE_KEY = 'pre-key';
/** Value of the row of a pre-key that is in the packed row and was removed. Of one that is not in it, the row goes. */
export const REMOVED = Buffer.alloc(0);

/** In the place of credentials, which a packed row need not have. */
const NO_CREDS = Buffer.from('{}');

/** Fewer pre-keys are as well in rows of their own. */
const WORTH_PACKING = 32;

/**
 * The rows of a state that was just unsealed.
 * @param sealed the state as it was sealed, compressed
 */
export async function rowsWithPacked({ creds, keys }: PlainState, sealed: Buffer): Promise<readonly PlainKey[]> {
  const preKeys = keys.filter(({ type }) => type === PRE_KEY);
  if (preKeys.length < WORTH_PACKING) return keys;
  const newest = newestPreKeyId(preKeys);
  // The library reads the newest one at each connect.
  const own = keys.filter(({ type, id }) => type !== PRE_KEY || Number(id) === newest);
  const others = own.reduce((sum, { plain }) => sum + plain.length, creds.length);
  const isMostlyPreKeys = others <= preKeys.reduce((sum, { plain }) => sum + plain.length, 0);
  const plain = isMostlyPreKeys ? sealed : await packText(stateText({ creds: NO_CREDS, keys: preKeys }));
  return [...own, { ...PACKED, plain }];
}

/** The highest id of the pre-keys among these keys. No other of a later time has one that is lower or the same. */
export const newestPreKeyId = (keys: readonly PlainKey[]): number =>
  keys.reduce((newest, { type, id }) => (type === PRE_KEY ? Math.max(newest, Number(id)) : newest), 0);

/** Is the packed row among them? */
export const arePacked = (rows: readonly Pick<PlainKey, 'type'>[]): boolean =>
  rows.some(({ type }) => type === PACKED.type);

/**
 * All keys that these rows hold, each with its newest value.
 * @param place where the rows were found
 * @throws {UnsealableError} when the packed row is not a state
 */
export async function keysOfRows(place: string, rows: readonly PlainKey[]): Promise<readonly PlainKey[]> {
  const packed = rows.find(({ type }) => type === PACKED.type);
  const own = rows.filter((key) => key !== packed);
  const stored = own.filter(({ plain }) => plain.length > 0);
  if (!packed) return stored;
  const newer = new Set(own.filter(({ type }) => type === PRE_KEY).map(({ id }) => id));
  const older = (await packedPreKeys(place, packed.plain)).filter(({ id }) => !newer.has(id));
  return [...stored, ...older];
}

/** The pre-keys of a packed row. @throws {UnsealableError} when it is not a state */
export async function packedPreKeys(place: string, packed: Buffer): Promise<PlainKey[]> {
  return (await unpackState(place, packed)).keys.filter(({ type }) => type === PRE_KEY);
}
