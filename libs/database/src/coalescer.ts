/**
 * Things to be written that wait for a write under way go together into the next one.
 *
 * What it guarantees: things are flushed in the order in which they were added, one flush at a time, and each exactly once
 * unless it is flushed by itself after a failure. Each call to add one gets the outcome of its flush. With nothing
 * under way a flush starts at once: in the call that added, without a timer or a turn of the event loop. Where things that fail
 * together are separated, one that cannot be written costs no other. Nothing is dropped: before a stop await {@link settled}.
 *
 * For many keys use one coalescer per key. `GroupedWrites` is for the other case, where different keys share a write.
 */
export interface CoalescerTerms<Item, Result> {
  /** Writes these; how many there are at most is up to {@link together}. */
  readonly flush: (items: readonly Item[]) => Promise<Result>;
  /** How many of these, from the first on, may go together; at least 1. Absent: all. */
  readonly together?: (items: readonly Item[]) => number;
  /** How long a flush that nothing else starts may wait for more, for the sake of this one. Absent: not at all. */
  readonly delayMs?: (item: Item) => number;
  /** Flush only after the code that runs at this moment: what it adds meanwhile goes together. */
  readonly afterThisTurn?: boolean;
  /** Whether things that failed together with this error are flushed one by one. Absent: they fail together. */
  readonly separates?: (error: unknown) => boolean;
  /** Nothing waits any more. */
  readonly onIdle?: () => void;
}

/** The outcome of the flush that a thing went into. */
export interface Flushed<Result> {
  readonly result: Result;
  /** The place of the thing in the flush: 0 for exactly one of those that share a result. */
  readonly index: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (flushed: Flushed<Result>) => void;
  readonly reject: (error: unknown) => void;
}

export class Coalescer<Item, Result> {
  readonly #terms: CoalescerTerms<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #isFlushing = false;
  #flushing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(terms: CoalescerTerms<Item, Result>) {
    this.#terms = terms;
  }

  /** Whether something is added that is not written yet. */
  get isBusy(): boolean {
    return this.#isFlushing || this.#waiting.length > 0;
  }

  /** Resolves when it is written. @throws what the flush failed with */
  add(item: Item): Promise<Flushed<Result>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isFlushing) return;
      const delayMs = this.#terms.delayMs?.(item) ?? 0;
      if (delayMs <= 0) this.#start();
      else this.#timer ??= setTimeout(() => this.#start(), delayMs);
    });
  }

  /** Resolves when everything added so far is written or has failed; a delay ends at once. Never rejects. */
  settled(): Promise<void> {
    if (this.#waiting.length > 0 && !this.#isFlushing) this.#start();
    return this.#flushing;
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isFlushing = true;
    this.#flushing = this.#flushAll();
  }

  async #flushAll(): Promise<void> {
    if (this.#terms.afterThisTurn) await Promise.resolve();
    while (this.#waiting.length > 0) await this.#flush(this.#next());
    this.#isFlushing = false;
    this.#terms.onIdle?.();
  }

  #next(): Waiting<Item, Result>[] {
    const { together } = this.#terms;
    const count = together ? Math.max(1, together(this.#waiting.map(({ item }) => item))) : this.#waiting.length;
    return this.#waiting.splice(0, count);
  }

  async #flush(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const result = await this.#terms.flush(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve({ result, index }));
    } catch (error) {
      if (batch.length > 1 && this.#terms.separates?.(error)) for (const each of batch) await this.#flush([each]);
      else for (const { reject } of batch) reject(error);
    }
  }
}
