import { createCipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { appendPatch, collectionOf, sumsAfter, type AppStateKey, type CollectionName } from '../network/app-state.js';
import type { Account } from '../network/account.js';

const { SET, REMOVE } = proto.SyncdMutation.SyncdOperation;

interface MutationKeys {
  index: Buffer;
  encryption: Buffer;
  valueMac: Buffer;
  snapshotMac: Buffer;
  patchMac: Buffer;
}

/** One change of shared state: where (an index such as `['mute', jid]`), what, and the version of the action's form. */
export interface Change {
  index: string[];
  value: proto.ISyncActionValue;
  actionVersion: number;
  remove?: boolean;
}

/** The five keys that a shared key stands for. */
export function mutationKeys(data: Buffer): MutationKeys {
  const all = Buffer.from(hkdfSync('sha256', data, Buffer.alloc(0), 'WhatsApp Mutation Keys', 160));
  return {
    index: all.subarray(0, 32),
    encryption: all.subarray(32, 64),
    valueMac: all.subarray(64, 96),
    snapshotMac: all.subarray(96, 128),
    patchMac: all.subarray(128, 160),
  };
}

/**
 * The phone changes shared state: seals the changes, signs them with the MACs that companions may check, and adds them as
 * one patch. Returns the collection's new version.
 */
export function writeAppState(account: Account, name: CollectionName, changes: Change[], nowMs: number): number {
  const { key, collections } = account.appState();
  const collection = collectionOf({ key, collections }, name);
  const keys = mutationKeys(key.data);
  const mutations = changes.map((change) => seal(change, key, keys, nowMs));
  const version = collection.version + 1;
  const { hash } = sumsAfter(collection, mutations);
  const snapshotMac = createHmac('sha256', keys.snapshotMac).update(hash).update(be64(version)).update(name).digest();
  const patchMac = createHmac('sha256', keys.patchMac).update(snapshotMac);
  for (const { record } of mutations) patchMac.update(Buffer.from(record?.value?.blob ?? []).subarray(-32));
  patchMac.update(be64(version)).update(name);
  appendPatch(collection, { mutations, snapshotMac, patchMac: patchMac.digest(), keyId: { id: key.id } });
  account.changed();
  return version;
}

function seal(change: Change, key: AppStateKey, keys: MutationKeys, nowMs: number): proto.ISyncdMutation {
  const operation = change.remove ? REMOVE : SET;
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
  return {
    operation,
    record: {
      index: { blob: createHmac('sha256', keys.index).update(index).digest() },
      value: { blob: Buffer.concat([sealed, valueMac(operation, sealed, key.id, keys.valueMac)]) },
      keyId: { id: key.id },
    },
  };
}

/** HMAC-SHA512, first half: operation (1 set, 2 remove) and key id in front, their length as the last of eight bytes behind. */
export function valueMac(operation: number, sealed: Uint8Array, keyId: Uint8Array, key: Uint8Array): Buffer {
  const head = Buffer.concat([Buffer.from([operation === SET ? 1 : 2]), keyId]);
  return createHmac('sha512', key).update(head).update(sealed).update(be64(head.length)).digest().subarray(0, 32);
}

function be64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
