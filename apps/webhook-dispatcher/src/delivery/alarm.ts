/** Rings once, at the earliest of the times that were set since it last rang. */
export class Alarm {
  readonly #ring: () => void;
  #ringsAtMs = Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  /** Rings in `ms` milliseconds, or earlier if an earlier time is set. */
  ringWithin(ms: number): void {
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
