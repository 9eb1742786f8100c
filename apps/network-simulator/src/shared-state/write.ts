import { createCipheriv, randomBytes } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import {
  appendPatch,
  collectionOf,
  sumsAfter,
  type AppState,
  type AppStateKey,
  type CollectionName,
} from './collection.js';
import { indexMac, mutationKeys, patchMac, snapshotMac, valueMac, type MutationKeys } from './crypto.js';

const { SET, REMOVE } = proto.SyncdMutation.SyncdOperation;

/** One change of shared state: where (an index such as `['mute', jid]`), what, and the version of the action's form. */
export interface Change {
  index: string[];
  value: proto.ISyncActionValue;
  actionVersion: number;
  remove?: boolean;
}

/**
 * The phone changes shared state: seals the changes, signs them with the MACs that companions may check, and adds them as
 * one patch. Returns the collection's new version.
 */
export function writeSharedState(state: AppState, name: CollectionName, changes: Change[], nowMs: number): number {
  const { key } = state;
  const collection = collectionOf(state, name);
  const keys = mutationKeys(key.data);
  const mutations = changes.map((change) => seal(change, key, keys, nowMs));
  const version = collection.version + 1;
  const snapshot = snapshotMac(sumsAfter(collection, mutations).hash, version, name, keys.snapshotMac);
  appendPatch(collection, {
    mutations,
    snapshotMac: snapshot,
    patchMac: patchMac(snapshot, mutations, version, name, keys.patchMac),
    keyId: { id: key.id },
  });
  return version;
}

function seal(change: Change, key: AppStateKey, keys: MutationKeys, nowMs: number): proto.ISyncdMutation {
  const index = Buffer.from(JSON.stringify(change.index));
  const plain = proto.SyncActionData.encode({
    index,
    value: { timestamp: nowMs, ...change.value },
    padding: Buffer.alloc(0),
    version: change.actionVersion,
  }).finish();
  const iv = randomBytes(16);
  const cipher = createCipheriv('aes-256-cbc', keys.encryption, iv);
  const sealed = Buffer.concat([iv, cipher.update(plain), cipher.final()]);
  const mac = valueMac(change.remove ?? false, sealed, key.id, keys.valueMac);
  return {
    operation: change.remove ? REMOVE : SET,
    record: {
      index: { blob: indexMac(index, keys.index) },
      value: { blob: Buffer.concat([sealed, mac]) },
      keyId: { id: key.id },
    },
  };
}
