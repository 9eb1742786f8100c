/** Rings once, at the earliest time it was asked for since it last rang. */
export class Alarm {
  readonly #ring: () => void;
  #ringsAtMs = Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  /** Asks it to ring in so many milliseconds, or earlier if that was asked already. */
  within(ms: number): void {
    const atMs = performance.now() + ms;
    if (atMs >= this.#ringsAtMs) return;
    clearTimeout(this.#timer);
    this.#ringsAtMs = atMs;
    this.#timer = setTimeout(() => {
      this.#ringsAtMs = Infinity;
      this.#ring();
    }, Math.ceil(ms));
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#ringsAtMs = Infinity;
  }
}
