export interface RecentlyOptions {
  forMs: number;
  maxEntries: number;
  /** Clock in epoch milliseconds. */
  now: () => number;
}

/** What happened a short while ago. At most so many are remembered; the one that was noted first goes first. */
export class Recently {
  /** Until when each is remembered; a Map keeps the order in which they were noted. */
  readonly #untilMs = new Map<string, number>();

  constructor(private readonly options: RecentlyOptions) {}

  /** @param forMs shorter or longer than usual */
  note(key: string, forMs = this.options.forMs): void {
    this.#untilMs.delete(key);
    this.#untilMs.set(key, this.options.now() + forMs);
    const [first] = this.#untilMs.keys();
    if (this.#untilMs.size > this.options.maxEntries && first !== undefined) this.#untilMs.delete(first);
  }

  forget(key: string): void {
    this.#untilMs.delete(key);
  }

  /** How long it will be remembered; 0 when it is not. */
  leftMs(key: string): number {
    const left = (this.#untilMs.get(key) ?? 0) - this.options.now();
    if (left > 0) return left;
    this.#untilMs.delete(key);
    return 0;
  }
}
