/**
 * Cache of the keys that a socket used last, in their stored form, unsealed. Only the owner of the shard writes keys, and
 * only one socket at a time uses them, so that no other writer can change what is cached here.
 *
 * Guarantee: a cached value equals the stored one. While a key is being written it is not cached, and neither are values
 * that were read or written in parallel to another write.
 */

const MAX_ENTRIES = 64;
/** Largest cached value; larger ones (app state) are rare and would take too much memory. */
const MAX_BYTES = 8_192;
/** Types that are not cached, because each value is used once: pre-keys, and the journal's decrypted messages. */
const NEVER_CACHED = new Set(['pre-key', 'packed-state', 'inbound-journal']);

/** A stored value, or null for a key that is not stored. */
export type KeyValue = Buffer | null;

export class KeyCache {
  private readonly entries = new Map<string, KeyValue>();
  /** Every stored key of a type that is cached is an entry: one that is none is not stored. */
  private isWhole = false;
  /** Changes with every write that begins. */
  private version = 0;
  private writesUnderWay = 0;

  /** @returns undefined when the key is not cached, null when it is known to be absent */
  find(type: string, id: string): KeyValue | undefined {
    const key = cacheKey(type, id);
    const value = this.entries.get(key);
    if (value === undefined) return this.knows(type) ? null : undefined;
    this.entries.delete(key); // a Map keeps insertion order: the first entry is the one used longest ago
    this.entries.set(key, value);
    return value;
  }

  /** Begins with all keys that are stored, unless they are too many. Nothing was read or written before. */
  fill(stored: readonly { type: string; id: string; plain: Buffer }[]): void {
    const kept = stored.filter(({ type }) => !NEVER_CACHED.has(type));
    if (kept.length > MAX_ENTRIES / 2 || kept.some(({ plain }) => plain.length > MAX_BYTES)) return;
    for (const { type, id, plain } of kept) this.remember(type, id, plain);
    this.isWhole = true;
  }

  private knows(type: string): boolean {
    return this.isWhole && this.writesUnderWay === 0 && !NEVER_CACHED.has(type);
  }

  /**
   * Call before reading. The returned function caches what was read, unless a write ran meanwhile: one that runs now may be
   * stored after the read has seen the key, and have ended before the read does.
   */
  beginRead(): (type: string, id: string, value: KeyValue) => void {
    const beganAlone = this.writesUnderWay === 0;
    const before = this.version;
    return (type, id, value) => {
      if (beganAlone && this.version === before) this.remember(type, id, value);
    };
  }

  /** Call before writing these keys. The returned function is to be called when the write has ended, with its outcome. */
  beginWrite(writes: readonly { type: string; id: string; value: KeyValue }[]): (stored: boolean) => void {
    const beganAlone = this.writesUnderWay++ === 0;
    const own = ++this.version;
    for (const { type, id } of writes) this.entries.delete(cacheKey(type, id));
    return (stored) => {
      this.writesUnderWay--;
      if (!stored || !beganAlone || this.version !== own) {
        this.isWhole = false;
        return;
      }
      for (const { type, id, value } of writes) this.remember(type, id, value);
    };
  }

  private remember(type: string, id: string, value: KeyValue): void {
    if (NEVER_CACHED.has(type)) return;
    if (value !== null && value.length > MAX_BYTES) {
      this.isWhole = false;
      return;
    }
    const key = cacheKey(type, id);
    this.entries.delete(key);
    this.entries.set(key, value && ownCopy(value));
    if (this.entries.size <= MAX_ENTRIES) return;
    this.isWhole = false;
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.entries.delete(oldest.value);
  }
}

/** What is read and sealed are parts of Node's pool: held by one of them, 64 KiB of it would stay for each value. */
function ownCopy(value: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(value.length);
  copy.set(value);
  return copy;
}

const cacheKey = (type: string, id: string): string => `${type} ${id}`;
