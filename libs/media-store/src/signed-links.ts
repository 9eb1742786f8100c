/**
 * Links to bytes that work without a token and expire. Signing one costs some milliseconds of CPU and a page of messages
 * has hundreds: a link is given again while at least half of its time is left.
 */
import type { ObjectStorage } from '@dormouse/object-storage';
import { LRUCache } from 'lru-cache';
import { downloadNameOf, type MediaFile } from './media-file.js';

const REMEMBERED = 4_000;

export interface SignedLinksOptions {
  storage: Pick<ObjectStorage, 'signGet'>;
  /** How long links work, in seconds. */
  ttlS: number;
  /** Epoch milliseconds. */
  now: () => number;
}

export class SignedLinks {
  readonly #remembered: LRUCache<string, Promise<string>>;

  constructor(private readonly options: SignedLinksOptions) {
    const { ttlS, now } = options;
    this.#remembered = new LRUCache({ max: REMEMBERED, ttl: (ttlS * 1_000) / 2, ttlResolution: 0, perf: { now } });
  }

  /** A link to a file that works for at least half of the agreed time. */
  of(file: Pick<MediaFile, 'id' | 'objectKey' | 'mimeType' | 'fileName'>): Promise<string> {
    const downloadName = downloadNameOf(file);
    const name = JSON.stringify([file.objectKey, downloadName, file.mimeType]);
    const known = this.#remembered.get(name);
    if (known) return known;
    const options = { expiresInS: this.options.ttlS, downloadName, contentType: file.mimeType };
    const link = this.options.storage.signGet(file.objectKey, options);
    this.#remembered.set(name, link);
    link.catch(() => this.#remembered.delete(name));
    return link;
  }
}
