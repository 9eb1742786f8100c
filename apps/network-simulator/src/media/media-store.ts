import { createHash } from 'node:crypto';
import type { Store } from '../store/store.js';

/** A place under which a file can be fetched; it can expire while the file itself stays. */
interface Place {
  file: string;
  expired?: 404 | 410;
  /** Absent in places that were stored by older versions. */
  uploadedAtMs?: number;
}

const INDEX_FILE = 'media.json';

/** The files of the network, as they were uploaded: encrypted, and it never has the keys. */
export class MediaStore {
  private readonly files = new Map<string, Buffer>();
  private readonly places = new Map<string, Place>();
  private uploads = 0;

  constructor(
    private readonly store: Store,
    private readonly now: () => number,
  ) {}

  async load(): Promise<void> {
    const stored = (await this.store.json(INDEX_FILE)) as
      { places: Record<string, Place>; uploads: number } | undefined;
    for (const [path, place] of Object.entries(stored?.places ?? {})) this.places.set(path, place);
    this.uploads = stored?.uploads ?? 0;
  }

  /** Stores a file and returns the path under which it can be fetched; every upload has a path of its own. */
  put(bytes: Buffer): string {
    const file = createHash('sha256').update(bytes).digest('hex');
    if (!this.store.persistent) this.files.set(file, bytes);
    else this.store.saveBytes(fileName(file), () => bytes);
    const path = `/v/${(++this.uploads).toString(36)}-${file.slice(0, 32)}.enc`;
    this.places.set(path, { file, uploadedAtMs: this.now() });
    this.save();
    return path;
  }

  /** The file at a path: its bytes, the status of an expired one, or 404. */
  async get(path: string): Promise<Buffer | 404 | 410> {
    const place = this.places.get(path);
    if (!place) return 404;
    if (place.expired) return place.expired;
    return (await this.bytesOf(place.file)) ?? 404;
  }

  /** Makes a path stop working (every path, when none is given). Returns how many did. */
  expire(path: string | undefined, status: 404 | 410): number {
    const struck =
      path === undefined ? [...this.places.values()] : [this.places.get(path)].filter((one) => one !== undefined);
    for (const place of struck) place.expired = status;
    this.save();
    return struck.length;
  }

  /** Makes every path stop working that was given out before this time. Returns how many did. */
  expireBefore(ms: number, status: 404 | 410): number {
    const old = [...this.places.values()].filter(
      ({ uploadedAtMs, expired }) => !expired && uploadedAtMs !== undefined && uploadedAtMs < ms,
    );
    for (const place of old) place.expired = status;
    if (old.length > 0) this.save();
    return old.length;
  }

  /** Deletes all files. */
  async clear(): Promise<void> {
    this.files.clear();
    this.places.clear();
    await this.store.removeFolder('media');
    this.save();
  }

  /** A new path for a file whose old one expired; `undefined` when there never was one. */
  renew(path: string): string | undefined {
    const place = this.places.get(path);
    if (!place) return undefined;
    const renewed = path.replace(/^\/v\/[^-]*-/, `/v/${(++this.uploads).toString(36)}-`);
    this.places.set(renewed, { file: place.file, uploadedAtMs: this.now() });
    this.save();
    return renewed;
  }

  private async bytesOf(file: string): Promise<Buffer | undefined> {
    if (!this.store.persistent) return this.files.get(file);
    return (await this.store.bytes(fileName(file))) ?? this.store.unwritten(fileName(file));
  }

  private save(): void {
    this.store.save(INDEX_FILE, () => ({ places: Object.fromEntries(this.places), uploads: this.uploads }));
  }
}

const fileName = (file: string): string => `media/${file.slice(0, 2)}/${file}`;
