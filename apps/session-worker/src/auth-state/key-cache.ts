/**
 * The keys a socket used last, in the form they are stored in, unsealed. Only the owner of the shard writes them and
 * only one socket at a time uses them, so nobody else can change what is remembered here.
 *
 * What it guarantees: a remembered value is the one that is stored. While a write is under way its keys are not
 * remembered, and what was read or written beside another write is not either.
 */

const MAX_ENTRIES = 64;
/** Larger values (app state) are rare and would make a session heavy. */
const MAX_BYTES = 8_192;
/** Used once each, many at a time: pre-keys, and decrypted messages that wait to be stored. */
const NEVER_REMEMBERED = new Set(['pre-key', 'inbound-journal']);

/** A stored value, or null for a key that is not stored. */
export type KeyValue = Buffer | null;

export class KeyCache {
  private readonly entries = new Map<string, KeyValue>();
  /** Changes with every write that begins. */
  private version = 0;
  private writesUnderWay = 0;

  /** undefined: not remembered. */
  find(type: string, id: string): KeyValue | undefined {
    const key = cacheKey(type, id);
    const value = this.entries.get(key);
    if (value === undefined) return undefined;
    this.entries.delete(key); // a Map keeps insertion order: the first entry is the one used longest ago
    this.entries.set(key, value);
    return value;
  }

  /** Call before reading; what was read is remembered unless something was written meanwhile. */
  beginRead(): (type: string, id: string, value: KeyValue) => void {
    const before = this.version;
    return (type, id, value) => {
      if (this.version === before && this.writesUnderWay === 0) this.remember(type, id, value);
    };
  }

  /** Call before writing these keys; what it returns is called when the write has ended, well or not. */
  beginWrite(writes: readonly { type: string; id: string; value: KeyValue }[]): (stored: boolean) => void {
    const beganAlone = this.writesUnderWay++ === 0;
    const own = ++this.version;
    for (const { type, id } of writes) this.entries.delete(cacheKey(type, id));
    return (stored) => {
      this.writesUnderWay--;
      if (!stored || !beganAlone || this.version !== own) return;
      for (const { type, id, value } of writes) this.remember(type, id, value);
    };
  }

  private remember(type: string, id: string, value: KeyValue): void {
    if (NEVER_REMEMBERED.has(type) || (value !== null && value.length > MAX_BYTES)) return;
    const key = cacheKey(type, id);
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size <= MAX_ENTRIES) return;
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.entries.delete(oldest.value);
  }
}

const cacheKey = (type: string, id: string): string => `${type} ${id}`;
