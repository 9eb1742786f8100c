/**
 * Links to bytes that work without a token and expire. Signing one costs some milliseconds of CPU and a page of messages
 * has hundreds: a link is given again while at least half of its time is left.
 */
import type { ObjectStorage } from '@dormouse/object-storage';
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
  readonly #remembered = new Map<string, { link: Promise<string>; untilMs: number }>();

  constructor(private readonly options: SignedLinksOptions) {}

  /** A link to a file that works for at least half of the agreed time. */
  of(file: Pick<MediaFile, 'id' | 'objectKey' | 'mimeType' | 'fileName'>): Promise<string> {
    const { storage, ttlS, now } = this.options;
    const downloadName = downloadNameOf(file);
    const name = JSON.stringify([file.objectKey, downloadName, file.mimeType]);
    const known = this.#remembered.get(name);
    if (known && known.untilMs > now()) return known.link;
    const link = storage.signGet(file.objectKey, { expiresInS: ttlS, downloadName, contentType: file.mimeType });
    this.#remembered.delete(name);
    this.#remembered.set(name, { link, untilMs: now() + (ttlS * 1_000) / 2 });
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > REMEMBERED && oldest !== undefined) this.#remembered.delete(oldest);
    link.catch(() => this.#remembered.delete(name));
    return link;
  }
}
