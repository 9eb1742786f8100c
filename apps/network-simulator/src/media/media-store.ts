import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Store } from '../store/store.js';

/** A place under which a file can be fetched; it can expire while the file itself stays. */
interface Place {
  file: string;
  /** The number whose phone or linked device uploaded it. */
  owner?: string;
  expired?: 404 | 410;
  /** Absent in places that were stored by older versions. */
  uploadedAtMs?: number;
}

interface StoredIndex {
  places: Record<string, Place>;
  uploads: number;
  secret?: string;
}

const INDEX_FILE = 'media.json';

/**
 * The files of the network, as they were uploaded: encrypted, and it never has the keys. Paths carry a signed query, as on
 * the real network (`?ccb=…&oh=…&oe=…`: tulir/whatsmeow issue 1174), and a download without it is refused.
 */
export class MediaStore {
  private readonly files = new Map<string, Buffer>();
  private readonly places = new Map<string, Place>();
  private uploads = 0;
  private secret = randomBytes(32).toString('base64');

  constructor(
    private readonly store: Store,
    private readonly now: () => number,
  ) {}

  async load(): Promise<void> {
    const stored = (await this.store.json(INDEX_FILE)) as StoredIndex | undefined;
    for (const [path, place] of Object.entries(stored?.places ?? {})) this.places.set(path, place);
    this.uploads = stored?.uploads ?? 0;
    this.secret = stored?.secret ?? this.secret;
  }

  /** What proves to the file host that an upload is of this number's. */
  uploadToken(phone: string): string {
    return `${phone}.${this.sign(phone)}`;
  }

  /** The number that an upload token was made for; `undefined` when it was not made here. */
  uploaderOf(token: string): string | undefined {
    const phone = token.slice(0, token.indexOf('.'));
    return token === this.uploadToken(phone) ? phone : undefined;
  }

  /**
   * Stores a file and returns the path, with its signed query, under which it can be fetched; every upload has a path of its
   * own.
   */
  put(bytes: Buffer, owner?: string): string {
    const file = createHash('sha256').update(bytes).digest('hex');
    if (!this.store.persistent) this.files.set(file, bytes);
    else this.store.saveBytes(fileName(file), () => bytes);
    const path = `/v/${(++this.uploads).toString(36)}-${file.slice(0, 32)}.enc`;
    this.places.set(path, { file, uploadedAtMs: this.now(), ...(owner !== undefined && { owner }) });
    this.save();
    return this.signed(path);
  }

  /** Whose file is at a path. */
  ownerOf(path: string): string | undefined {
    return this.places.get(bare(path))?.owner;
  }

  /** The file at a path, as clients fetch it: 403 when the query that came with the path is not there, or not the same. */
  async open(path: string): Promise<Buffer | 403 | 404 | 410> {
    if (!this.places.has(bare(path))) return 404;
    const given = new URLSearchParams(path.slice(bare(path).length));
    const made = new URLSearchParams(this.signed(bare(path)).slice(bare(path).length));
    for (const [name, value] of made) if (given.get(name) !== value) return 403;
    return this.get(path);
  }

  /** The file at a path, whatever its query: its bytes, the status of an expired one, or 404. */
  async get(path: string): Promise<Buffer | 404 | 410> {
    const place = this.places.get(bare(path));
    if (!place) return 404;
    if (place.expired) return place.expired;
    return (await this.bytesOf(place.file)) ?? 404;
  }

  /** Makes a path stop working (every path, or those of one owner, when none is given). Returns how many did. */
  expire(path: string | undefined, status: 404 | 410, owner?: string): number {
    const named =
      path === undefined ? [...this.places.values()] : [this.places.get(bare(path))].filter((one) => one !== undefined);
    const struck = named.filter((place) => owner === undefined || place.owner === owner);
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
    const place = this.places.get(bare(path));
    if (!place) return undefined;
    const { file, owner } = place;
    const renewed = bare(path).replace(/^\/v\/[^-]*-/, `/v/${(++this.uploads).toString(36)}-`);
    this.places.set(renewed, { file, uploadedAtMs: this.now(), ...(owner !== undefined && { owner }) });
    this.save();
    return this.signed(renewed);
  }

  /** `oe` is when the signature ends, in hexadecimal seconds since 1970; here it never does. */
  private signed(path: string): string {
    const expiry = '7fffffff';
    return `${path}?ccb=11-4&oh=01_${this.sign(`${path} ${expiry}`)}&oe=${expiry.toUpperCase()}`;
  }

  private sign(what: string): string {
    return createHmac('sha256', this.secret).update(what).digest('base64url').slice(0, 32);
  }

  private async bytesOf(file: string): Promise<Buffer | undefined> {
    if (!this.store.persistent) return this.files.get(file);
    return (await this.store.bytes(fileName(file))) ?? this.store.unwritten(fileName(file));
  }

  private save(): void {
    this.store.save(INDEX_FILE, (): StoredIndex => ({
      places: Object.fromEntries(this.places),
      uploads: this.uploads,
      secret: this.secret,
    }));
  }
}

const bare = (path: string): string => path.split('?', 1)[0] ?? '';
const fileName = (file: string): string => `media/${file.slice(0, 2)}/${file}`;
