import pTimeout from 'p-timeout';
import { deferred, type Deferred } from '../socket/deferred.js';

/** Notifies all waiting callers that something has changed; each then checks its own condition. */
export class ChangeSignal {
  private next: Deferred<void> = deferred();

  fire(): void {
    const { resolve } = this.next;
    this.next = deferred();
    resolve();
  }

  /**
   * Waits for the next change.
   * @param deadlineMs epoch milliseconds
   * @returns false when nothing changed until then
   */
  async changedBy(deadlineMs: number, now: () => number = Date.now): Promise<boolean> {
    const leftMs = deadlineMs - now();
    if (leftMs <= 0) return false;
    return pTimeout(
      this.next.promise.then(() => true),
      { milliseconds: leftMs, fallback: () => false },
    );
  }
}
