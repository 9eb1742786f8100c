import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { sealFile } from '../media/media-crypto.js';
import type { MediaStore } from '../media/media-store.js';
import type { AppState, Collection } from './collection.js';
import { isRemoval, mutationKeys, snapshotMac } from './crypto.js';

/** The present content of a collection as one file on the media host: what `<snapshot>` of an answer points at. */
export function snapshotReference(
  state: AppState,
  name: string,
  collection: Collection,
  media: MediaStore,
): Uint8Array {
  const { key } = state;
  const records = new Map<string, proto.ISyncdRecord>();
  for (const bytes of collection.patches) {
    for (const mutation of proto.SyncdPatch.decode(bytes).mutations) {
      const index = Buffer.from(mutation.record?.index?.blob ?? []).toString('base64');
      if (isRemoval(mutation)) records.delete(index);
      else if (mutation.record) records.set(index, mutation.record);
    }
  }
  const plain = proto.SyncdSnapshot.encode({
    version: { version: collection.version },
    records: [...records.values()],
    mac: snapshotMac(collection.hash, collection.version, name, mutationKeys(key.data).snapshotMac),
    keyId: { id: key.id },
  }).finish();
  const file = sealFile(Buffer.from(plain), 'App State');
  return proto.ExternalBlobReference.encode({
    mediaKey: file.mediaKey,
    directPath: media.put(file.sealed),
    handle: '',
    fileSizeBytes: file.fileLength,
    fileSha256: file.fileSha256,
    fileEncSha256: file.fileEncSha256,
  }).finish();
}
