import { setTimeout as delay } from 'node:timers/promises';

/**
 * How many sessions connect at once. Connecting is the dearest thing a session does, and many at once slow each other
 * down: 200 take twice as long together as ten at a time. Sessions that somebody waits for go first: when a worker takes
 * over a thousand numbers, a send does not wait for all of them. Those that connect beside others are spread by a jitter;
 * who comes alone or is waited for begins at once.
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
   * @param isUrgent does somebody wait for it? Asked whenever a slot becomes free
   * @returns gives it back; safe to call twice
   */
  async take(isUrgent: () => boolean = () => false): Promise<() => void> {
    const alone = this.free === this.slots;
    if (this.free > 0) this.free--;
    else await new Promise<void>((enter) => this.queue.push({ enter, isUrgent }));
    if (!alone && this.jitterMs > 0 && !isUrgent()) await this.wait(Math.random() * this.jitterMs);
    let given = false;
    return () => {
      if (given) return;
      given = true;
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
