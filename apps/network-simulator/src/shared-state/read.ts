import { createDecipheriv } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { sumsAfter, type AppState, type Collection } from './collection.js';
import { indexMac, isRemoval, mutationKeys, patchMac, snapshotMac, valueMac, valueMacOf } from './crypto.js';

/** A change of shared state, opened. */
export interface OpenedChange {
  index: string[];
  value: proto.ISyncActionValue;
  removes: boolean;
}

/**
 * Opens a patch that is about to become the collection's next version and checks all its MACs.
 * Throws an Error that names the one that does not hold.
 */
export function openPatch(
  state: AppState,
  name: string,
  collection: Collection,
  patch: proto.ISyncdPatch,
): OpenedChange[] {
  const { key } = state;
  if (!Buffer.from(patch.keyId?.id ?? []).equals(key.id)) throw new Error('The patch names an unknown key.');
  const keys = mutationKeys(key.data);
  const mutations = patch.mutations ?? [];
  const version = collection.version + 1;
  const snapshot = snapshotMac(sumsAfter(collection, mutations).hash, version, name, keys.snapshotMac);
  if (!snapshot.equals(Buffer.from(patch.snapshotMac ?? []))) throw new Error("The snapshot's MAC does not hold.");
  const whole = patchMac(snapshot, mutations, version, name, keys.patchMac);
  if (!whole.equals(Buffer.from(patch.patchMac ?? []))) throw new Error("The patch's MAC does not hold.");
  return mutations.map((mutation) => openMutation(mutation, key.id, keys));
}

function openMutation(
  mutation: proto.ISyncdMutation,
  keyId: Buffer,
  keys: ReturnType<typeof mutationKeys>,
): OpenedChange {
  const blob = Buffer.from(mutation.record?.value?.blob ?? []);
  const sealed = blob.subarray(0, -32);
  const removes = isRemoval(mutation);
  if (!valueMac(removes, sealed, keyId, keys.valueMac).equals(valueMacOf(mutation.record))) {
    throw new Error("A value's MAC does not hold.");
  }
  const decipher = createDecipheriv('aes-256-cbc', keys.encryption, sealed.subarray(0, 16));
  const plain = Buffer.concat([decipher.update(sealed.subarray(16)), decipher.final()]);
  const { index, value } = proto.SyncActionData.decode(plain);
  if (!indexMac(index ?? Buffer.alloc(0), keys.index).equals(Buffer.from(mutation.record?.index?.blob ?? []))) {
    throw new Error("An index's MAC does not hold.");
  }
  return { index: JSON.parse(Buffer.from(index ?? []).toString()) as string[], value: value ?? {}, removes };
}
