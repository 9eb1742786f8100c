export interface RecentlyOptions {
  forMs: number;
  maxEntries: number;
  /** Clock in epoch milliseconds. */
  now: () => number;
}

/** Keys noted within the last `forMs` milliseconds; at most `maxEntries`, the oldest are dropped first. */
export class Recently {
  /** Key to its expiry; a Map keeps the order in which they were noted. */
  readonly #untilMs = new Map<string, number>();

  constructor(private readonly options: RecentlyOptions) {}

  /** @param forMs in place of the standard time, in milliseconds */
  note(key: string, forMs = this.options.forMs): void {
    this.#untilMs.delete(key);
    this.#untilMs.set(key, this.options.now() + forMs);
    const [first] = this.#untilMs.keys();
    if (this.#untilMs.size > this.options.maxEntries && first !== undefined) this.#untilMs.delete(first);
  }

  forget(key: string): void {
    this.#untilMs.delete(key);
  }

  /** Milliseconds until the key expires; 0 when it is not remembered. */
  leftMs(key: string): number {
    const left = (this.#untilMs.get(key) ?? 0) - this.options.now();
    if (left > 0) return left;
    this.#untilMs.delete(key);
    return 0;
  }
}
