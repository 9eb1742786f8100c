import { setTimeout as delay } from 'node:timers/promises';
import type { Claim } from '@dormouse/event-outbox/delivery';

const AGAIN_AFTER_MS = 250;

/**
 * Does a claim's work on the database again while its lease lasts: an outage shorter than that costs no duplicate.
 * Writes of one claim pass one after the other, in the order they were asked for.
 */
export class WhileLeased {
  readonly #now: () => number;
  readonly #last = new WeakMap<Claim, Promise<unknown>>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  async read<T>(claim: Claim, work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (this.#now() + AGAIN_AFTER_MS >= claim.leaseEndsAtMs) throw error;
        await delay(AGAIN_AFTER_MS);
      }
    }
  }

  async write<T>(claim: Claim, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(claim) ?? Promise.resolve();
    const written = before.then(() => this.read(claim, work));
    this.#last.set(
      claim,
      written.catch(() => undefined),
    );
    return written;
  }
}
