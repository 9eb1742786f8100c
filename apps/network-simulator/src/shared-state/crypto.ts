import { createHmac, hkdfSync } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';

/** The five keys that a shared key stands for. */
export interface MutationKeys {
  index: Buffer;
  encryption: Buffer;
  valueMac: Buffer;
  snapshotMac: Buffer;
  patchMac: Buffer;
}

const derived = new Map<string, MutationKeys>();
const DERIVED_LIMIT = 1000;

export function mutationKeys(data: Uint8Array): MutationKeys {
  const name = Buffer.from(data).toString('base64');
  const known = derived.get(name);
  if (known) return known;
  const all = Buffer.from(hkdfSync('sha256', data, Buffer.alloc(0), 'WhatsApp Mutation Keys', 160));
  const keys = {
    index: all.subarray(0, 32),
    encryption: all.subarray(32, 64),
    valueMac: all.subarray(64, 96),
    snapshotMac: all.subarray(96, 128),
    patchMac: all.subarray(128, 160),
  };
  if (derived.size >= DERIVED_LIMIT) derived.clear();
  derived.set(name, keys);
  return keys;
}

/** HMAC-SHA512, first half: operation (1 set, 2 remove) and key id in front, their length as the last of eight bytes behind. */
export function valueMac(removes: boolean, sealed: Uint8Array, keyId: Uint8Array, key: Uint8Array): Buffer {
  const head = Buffer.concat([Buffer.from([removes ? 2 : 1]), keyId]);
  return createHmac('sha512', key).update(head).update(sealed).update(be64(head.length)).digest().subarray(0, 32);
}

export function indexMac(index: Uint8Array, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(index).digest();
}

/** Over the sum of all values, the version and the collection's name. */
export function snapshotMac(hash: Uint8Array, version: number, name: string, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(hash).update(be64(version)).update(name).digest();
}

export function patchMac(
  snapshot: Uint8Array,
  mutations: proto.ISyncdMutation[],
  version: number,
  name: string,
  key: Uint8Array,
): Buffer {
  const mac = createHmac('sha256', key).update(snapshot);
  for (const { record } of mutations) mac.update(valueMacOf(record));
  return mac.update(be64(version)).update(name).digest();
}

export function isRemoval({ operation }: proto.ISyncdMutation): boolean {
  return Number(operation ?? 0) === Number(proto.SyncdMutation.SyncdOperation.REMOVE);
}

/** The MAC that stands behind a record's sealed value. */
export function valueMacOf(record: proto.ISyncdRecord | null | undefined): Buffer {
  return Buffer.from(record?.value?.blob ?? []).subarray(-32);
}

export function be64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
