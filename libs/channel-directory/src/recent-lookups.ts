export interface RecentLookupsOptions<Value> {
  /** How old an answer may be that nothing more is known of. */
  cacheMs: number;
  maxEntries: number;
  /** Clock in milliseconds. */
  now: () => number;
  /** Whose a value is that was looked up by something else; see `forgetOwner`. */
  ownerOf?: (value: Value) => string;
  /** Until when every change is known to have been told (`forget`, `forgetOwner`), if changes are told at all. */
  toldUntilMs?: () => number | undefined;
}

interface Entry<Value> {
  readonly startedAtMs: number;
  readonly value: Promise<Value | undefined>;
  /** The read has answered, and nothing of its owner was forgotten meanwhile. */
  found?: { owner: string | undefined };
  /** Who was forgotten while the read ran: it may have seen them as they were before. */
  forgotten?: Set<string>;
}

/**
 * Remembers what look-ups found. An answer is as old as its read, counted from the moment the read *began*, or, when
 * changes are told, as the moment until which all are known to have been told: what had changed by then was forgotten.
 * An answer older than `cacheMs` is not given. (Of an answer from after the clock's present nothing is known: the clock
 * was set back.)
 *
 * Look-ups of one key that overlap share one read. Misses and failures are not remembered. At most `maxEntries` are
 * kept; the one that was not asked for longest goes first.
 */
export class RecentLookups<Value> {
  /** A Map keeps insertion order: the first is the one that was not asked for longest. */
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

  /** Forgets what is remembered under the key; a read that runs now will not be remembered. */
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

  /** Forgets all values of an owner; a read that runs now will not be remembered if it turns out to find one of them. */
  forgetOwner(owner: string): void {
    for (const key of this.keysOf.get(owner) ?? []) this.forget(key);
    for (const entry of this.running) (entry.forgotten ??= new Set()).add(owner);
  }

  /** Forgets everything; the reads that run now will not be remembered. */
  forgetAll(): void {
    this.entries.clear();
    this.keysOf.clear();
  }

  private mayBeGiven({ startedAtMs, found }: Entry<Value>, nowMs: number): boolean {
    const recent = (atMs: number): boolean => atMs <= nowMs && nowMs - atMs <= this.options.cacheMs;
    if (recent(startedAtMs)) return true;
    // Of a read that has not answered it is not known yet whose changes it must not have missed.
    const toldUntilMs = found && this.options.toldUntilMs?.();
    return toldUntilMs !== undefined && recent(toldUntilMs);
  }

  private remember(key: string, entry: Entry<Value>): void {
    this.forget(key);
    this.entries.set(key, entry);
    if (this.entries.size <= this.options.maxEntries) return;
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.forget(oldest.value);
  }

  /** The read has answered: it stays remembered, unless it missed or was forgotten meanwhile. */
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
