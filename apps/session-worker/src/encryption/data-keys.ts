/** Data keys: one for each channel, sealed under a named master key, so that master keys can be replaced. */
import { randomBytes } from 'node:crypto';
import { KEY_BYTES, open, seal, UnsealableError } from './sealing.js';

export interface MasterKeys {
  /** Id of the key that new data keys are sealed under. */
  readonly currentId: string;
  /** All keys by id, earlier ones included, 32 bytes each. */
  readonly keys: ReadonlyMap<string, Buffer>;
}

/** A channel's data key as it is stored: sealed under the master key of that id. */
export interface WrappedKey {
  readonly masterKeyId: string;
  readonly wrappedKey: Buffer;
}

const place = (channelId: string): string => `data key of ${channelId}`;

export function newDataKey(master: MasterKeys, channelId: string): { dataKey: Buffer; wrapped: WrappedKey } {
  const dataKey = randomBytes(KEY_BYTES);
  return { dataKey, wrapped: sealDataKey(master, channelId, dataKey) };
}

/** Wraps a data key by the current master key. */
export function sealDataKey(master: MasterKeys, channelId: string, dataKey: Buffer): WrappedKey {
  const masterKey = master.keys.get(master.currentId);
  if (!masterKey) throw new Error(`there is no master key ${master.currentId}`);
  return { masterKeyId: master.currentId, wrappedKey: seal(masterKey, place(channelId), dataKey) };
}

/** @throws {UnsealableError} when it is missing, changed, or sealed under a master key that is not configured */
export function openDataKey(master: MasterKeys, channelId: string, wrapped: WrappedKey | undefined): Buffer {
  const masterKey = wrapped && master.keys.get(wrapped.masterKeyId);
  if (!masterKey) throw new UnsealableError(place(channelId));
  const dataKey = open(masterKey, place(channelId), wrapped.wrappedKey);
  if (dataKey.length !== KEY_BYTES) throw new UnsealableError(place(channelId));
  return dataKey;
}
