/**
 * Remembers what a look-up found for a bounded time, counted from the moment the look-up *began*, so an answer is never
 * older than `cacheMs`. Look-ups of one key that overlap share one read. Misses and failures are not remembered.
 */
export class RecentLookups<Value> {
  private readonly entries = new Map<string, { startedAtMs: number; value: Promise<Value | undefined> }>();

  constructor(private readonly options: { cacheMs: number; maxEntries: number; now: () => number }) {}

  async find(key: string, read: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const entry = this.entries.get(key);
    const nowMs = this.options.now();
    if (entry && nowMs - entry.startedAtMs <= this.options.cacheMs) return entry.value;
    const fresh = { startedAtMs: nowMs, value: read() };
    this.remember(key, fresh);
    try {
      const value = await fresh.value;
      if (value === undefined) this.forgetEntry(key, fresh);
      return value;
    } catch (error) {
      this.forgetEntry(key, fresh);
      throw error;
    }
  }

  forget(key: string): void {
    this.entries.delete(key);
  }

  private remember(key: string, entry: { startedAtMs: number; value: Promise<Value | undefined> }): void {
    this.entries.delete(key); // a Map keeps insertion order: the first key is the one read longest ago
    this.entries.set(key, entry);
    if (this.entries.size <= this.options.maxEntries) return;
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.entries.delete(oldest.value);
  }

  private forgetEntry(key: string, entry: object): void {
    if (this.entries.get(key) === entry) this.entries.delete(key);
  }
}
