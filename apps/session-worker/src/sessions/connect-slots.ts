import { setTimeout as delay } from 'node:timers/promises';

/**
 * Limits how many sessions connect at once. Connecting is the most expensive thing a session does, and many at once slow
 * each other down. Sessions with a waiting request go first: when a worker takes over a thousand numbers, a send does not
 * wait for all of them. Sessions that connect beside others are spread by a jitter; one that is alone or has a waiting
 * request begins at once.
 */
export class ConnectSlots {
  private free: number;
  private readonly queue: Waiting[] = [];

  constructor(
    private readonly slots: number,
    private readonly jitterMs = 0,
    private readonly wait: (ms: number) => Promise<unknown> = delay,
  ) {
    this.free = slots;
  }

  /**
   * Waits for a slot.
   * @param isUrgent whether a request waits for it; evaluated when a slot becomes free
   * @returns releases the slot; safe to call twice
   */
  async take(isUrgent: () => boolean = () => false): Promise<() => void> {
    const alone = this.free === this.slots;
    if (this.free > 0) this.free--;
    else await new Promise<void>((enter) => this.queue.push({ enter, isUrgent }));
    if (!alone && this.jitterMs > 0 && !isUrgent()) await this.wait(Math.random() * this.jitterMs);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const next = this.next();
      if (next) next.enter();
      else this.free++;
    };
  }

  private next(): Waiting | undefined {
    const urgent = this.queue.findIndex(({ isUrgent }) => isUrgent());
    return this.queue.splice(Math.max(urgent, 0), 1)[0];
  }
}

interface Waiting {
  readonly enter: () => void;
  readonly isUrgent: () => boolean;
}
