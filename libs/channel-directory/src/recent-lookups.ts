export interface RecentLookupsOptions<Value> {
  /** How long a value is cached, in milliseconds; 0: not at all. */
  cacheMs: number;
  maxEntries: number;
  /** Clock in milliseconds. */
  now: () => number;
  /** Owner of a value that is looked up by another key; see `forgetOwner`. */
  ownerOf?: (value: Value) => string;
  /** Until when all changes were notified (`forget`, `forgetOwner`); undefined: not known. */
  notifiedUntilMs?: () => number | undefined;
}

interface Entry<Value> {
  readonly startedAtMs: number;
  readonly value: Promise<Value | undefined>;
  /** Set when the read has ended and its owner was not forgotten meanwhile. */
  found?: { owner: string | undefined };
  /** Owners that were forgotten while the read ran: it may have read them as they were before. */
  forgotten?: Set<string>;
}

/**
 * A cache of look-ups. The age of a value counts from the moment its read *began*, or, where changes are notified, from
 * the moment until which all changes were notified: values that had changed by then were removed. A value of
 * `cacheMs` and older is read again. So is a value from after the clock's present: the clock was set back, its age is not known.
 *
 * Look-ups of one key that overlap share one read, unless `cacheMs` is 0: each then finds what was committed before it. Misses
 * and failures are not cached. At most `maxEntries` are cached; the least recently used goes first.
 */
export class RecentLookups<Value> {
  /** A Map keeps insertion order: the first entry is the least recently used. */
  private readonly entries = new Map<string, Entry<Value>>();
  private readonly keysOf = new Map<string, Set<string>>();
  private readonly running = new Set<Entry<Value>>();

  constructor(private readonly options: RecentLookupsOptions<Value>) {}

  async find(key: string, read: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const known = this.entries.get(key);
    const nowMs = this.options.now();
    if (known && this.mayBeGiven(known, nowMs)) {
      this.entries.delete(key);
      this.entries.set(key, known);
      return known.value;
    }
    const fresh: Entry<Value> = { startedAtMs: nowMs, value: read() };
    this.remember(key, fresh);
    this.running.add(fresh);
    try {
      const value = await fresh.value;
      this.keep(key, fresh, value);
      return value;
    } catch (error) {
      this.keep(key, fresh, undefined);
      throw error;
    } finally {
      this.running.delete(fresh);
    }
  }

  /** Removes the value of the key; a read that runs now will not be cached. */
  forget(key: string): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    this.entries.delete(key);
    const owner = entry.found?.owner;
    if (owner === undefined) return;
    const keys = this.keysOf.get(owner);
    keys?.delete(key);
    if (keys?.size === 0) this.keysOf.delete(owner);
  }

  /** Removes all values of an owner; a read that runs now will not be cached if it finds one of them. */
  forgetOwner(owner: string): void {
    for (const key of this.keysOf.get(owner) ?? []) this.forget(key);
    for (const entry of this.running) (entry.forgotten ??= new Set()).add(owner);
  }

  /** Removes everything; reads that run now will not be cached. */
  forgetAll(): void {
    this.entries.clear();
    this.keysOf.clear();
  }

  private mayBeGiven({ startedAtMs, found }: Entry<Value>, nowMs: number): boolean {
    const recent = (atMs: number): boolean => atMs <= nowMs && nowMs - atMs < this.options.cacheMs;
    if (recent(startedAtMs)) return true;
    // While the read runs its owner is not known, so neither is whether it missed a change of that owner.
    const notifiedUntilMs = found && this.options.notifiedUntilMs?.();
    return notifiedUntilMs !== undefined && recent(notifiedUntilMs);
  }

  private remember(key: string, entry: Entry<Value>): void {
    this.forget(key);
    this.entries.set(key, entry);
    if (this.entries.size <= this.options.maxEntries) return;
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.forget(oldest.value);
  }

  /** After the read: keeps the entry, unless it is a miss or was forgotten meanwhile. */
  private keep(key: string, entry: Entry<Value>, value: Value | undefined): void {
    if (this.entries.get(key) !== entry) return;
    const owner = value === undefined ? undefined : this.options.ownerOf?.(value);
    if (value === undefined || (owner !== undefined && entry.forgotten?.has(owner))) {
      this.forget(key);
      return;
    }
    entry.found = { owner };
    if (owner === undefined) return;
    const keys = this.keysOf.get(owner);
    if (keys) keys.add(key);
    else this.keysOf.set(owner, new Set([key]));
  }
}
