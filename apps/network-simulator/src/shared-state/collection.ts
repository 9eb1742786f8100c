import { randomBytes } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { isRemoval, valueMacOf } from './crypto.js';
import { LTHashAntiTampering } from 'whatsapp-rust-bridge';

export const COLLECTIONS = [
  'critical_block',
  'critical_unblock_low',
  'regular_high',
  'regular_low',
  'regular',
] as const;
export type CollectionName = (typeof COLLECTIONS)[number];

/** The key under which an account's devices encrypt what they share. */
export interface AppStateKey {
  id: Buffer;
  data: Buffer;
  timestampMs: number;
}

/** One collection as the server stores it: it sees only sealed records, and the sums over them. */
export interface Collection {
  version: number;
  /** The patches from version 1 on, each with its version written in. */
  patches: Buffer[];
  /** The homomorphic sum of all current value MACs. */
  hash: Buffer;
  /** The current value MAC of every index (base64). */
  values: Record<string, Buffer>;
}

export interface AppState {
  key: AppStateKey;
  collections: Record<string, Collection>;
}

export function newAppState(nowMs: number): AppState {
  const id = Buffer.concat([Buffer.from([0, 0]), randomBytes(4)]);
  return { key: { id, data: randomBytes(32), timestampMs: nowMs }, collections: {} };
}

export function collectionOf(state: AppState, name: string): Collection {
  return (state.collections[name] ??= { version: 0, patches: [], hash: Buffer.alloc(128), values: {} });
}

/**
 * Adds a patch: gives it the next version and updates the sums. A client's own patches come without a version.
 * Returns the new version.
 */
export function appendPatch(collection: Collection, patch: proto.ISyncdPatch): number {
  const { hash, values } = sumsAfter(collection, patch.mutations ?? []);
  collection.version++;
  collection.hash = hash;
  collection.values = values;
  const stored = proto.SyncdPatch.encode({ ...patch, version: { version: collection.version } }).finish();
  collection.patches.push(Buffer.from(stored));
  return collection.version;
}

/** The sums as they are once these changes are made. */
export function sumsAfter(
  collection: Collection,
  mutations: proto.ISyncdMutation[],
): { hash: Buffer; values: Record<string, Buffer> } {
  const values = { ...collection.values };
  const removed: Buffer[] = [];
  const added: Buffer[] = [];
  for (const mutation of mutations) {
    const { record } = mutation;
    const index = Buffer.from(record?.index?.blob ?? []).toString('base64');
    const previous = values[index];
    if (previous) removed.push(previous);
    if (isRemoval(mutation)) delete values[index];
    else {
      values[index] = valueMacOf(record);
      added.push(valueMacOf(record));
    }
  }
  const sum = new LTHashAntiTampering();
  const hash = Buffer.from(sum.subtractThenAdd(collection.hash, removed, added));
  sum.free();
  return { hash, values };
}
