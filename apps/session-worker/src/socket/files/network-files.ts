/** What the network library knows of the network's files: how their keys are derived, and who may fetch them. */
import { DEFAULT_ORIGIN, getMediaKeys, type MediaType } from '@whiskeysockets/baileys';

/** The name of a kind of file in key derivation and upload paths. */
export type NetworkFileType = Extract<
  MediaType,
  'image' | 'video' | 'audio' | 'document' | 'sticker' | 'thumbnail-link'
>;

/** 16 bytes of IV, and two keys of 32 bytes. */
export interface FileKeys {
  iv: Uint8Array;
  cipherKey: Uint8Array;
  macKey: Uint8Array;
}

/** Expands the media key of a file (32 bytes). */
export async function expandMediaKey(mediaKey: Uint8Array, type: NetworkFileType): Promise<FileKeys> {
  const { iv, cipherKey, macKey } = await getMediaKeys(mediaKey, type);
  if (!macKey) throw new Error('no authentication key was derived');
  return { iv, cipherKey, macKey };
}

/** The `Origin` header of requests to the file host. */
export const WEB_CLIENT_ORIGIN: string = DEFAULT_ORIGIN;
