/**
 * The pre-keys of a session that was woken: one row in place of some 800, of which it uses one or two before it sleeps again.
 *
 * What it guarantees: the packed row is the state as it was sealed when the session fell asleep, and is never changed; only its
 * pre-keys are read. What is in a row of its own is newer: another value, or an empty one for a pre-key that was removed. So
 * rows and packed row together are the whole state at any moment, and every change is one row, durable by itself.
 */
import { unpackState, type PlainKey } from './plain-state.js';

/** The packed row. */
export const PACKED = { type: 'packed-state', id: 'pre-key' } as const;
/** The type of keys that is read from it. */
export const PRE_KEY = 'pre-key';
/** Value of the row of a pre-key that is in the packed row and was removed. */
export const REMOVED = Buffer.alloc(0);

/** Fewer pre-keys are as well in rows of their own. */
const WORTH_PACKING = 32;

/**
 * The rows of a state that was just unsealed.
 * @param packed the state as it was sealed
 */
export function rowsWithPacked(keys: readonly PlainKey[], packed: Buffer): readonly PlainKey[] {
  const preKeys = keys.filter(({ type }) => type === PRE_KEY);
  if (preKeys.length < WORTH_PACKING) return keys;
  // The library reads the newest one at each connect.
  const newest = preKeys.reduce((one, other) => (Number(other.id) > Number(one.id) ? other : one));
  return [...keys.filter((key) => key.type !== PRE_KEY || key === newest), { ...PACKED, plain: packed }];
}

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
