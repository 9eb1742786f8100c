import type { Logger } from '@dormouse/bootstrap';
import { sweepMedia } from '@dormouse/media-store/retention';

const HOUR_MS = 60 * 60 * 1_000;

type Stores = Parameters<typeof sweepMedia>[0];

/**
 * Deletes expired files every hour. Every edge does it; concurrent sweeps skip each other's rows. What fails is left to
 * the next sweep.
 */
export class MediaSweep {
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly stores: Stores,
    private readonly log: Logger,
    everyMs = HOUR_MS,
  ) {
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#sweep());
    }, everyMs);
  }

  async #sweep(): Promise<void> {
    try {
      const swept = await sweepMedia(this.stores, this.#stop.signal);
      if (swept.expiredFiles + swept.deletedObjects > 0) this.log.info(swept, 'media swept');
    } catch (error) {
      this.log.warn({ err: error }, 'media could not be swept; the next sweep goes on');
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort();
    await this.#running;
  }
}
