import type { MediaStore } from '../media/media-store.js';

/** A picture of a person or a group: where it is on the file host. */
export interface Picture {
  id: string;
  path: string;
}

/** Puts a picture on the file host, under an id made of the time. */
export function storePicture(media: MediaStore, bytes: Buffer, nowMs: number): Picture {
  return { id: String(Math.floor(nowMs / 1000)) + String(bytes.length % 1000), path: media.put(bytes) };
}
