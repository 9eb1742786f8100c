import { setTimeout as delay } from 'node:timers/promises';

/** Spaces calls: no more than so many in a second, without bursts. */
export class Pace {
  readonly #gapMs: number;
  #freeAtMs = 0;

  constructor(
    perSecond: number,
    private readonly nowMs: () => number = () => performance.now(),
    private readonly pause: (ms: number) => Promise<unknown> = delay,
  ) {
    this.#gapMs = 1_000 / perSecond;
  }

  /** Resolves when the next call may be made. */
  async next(): Promise<void> {
    const nowMs = this.nowMs();
    const startMs = Math.max(nowMs, this.#freeAtMs);
    this.#freeAtMs = startMs + this.#gapMs;
    if (startMs > nowMs) await this.pause(startMs - nowMs);
  }
}
