import { setTimeout as delay } from 'node:timers/promises';

/**
 * How many sessions connect at once. Connecting is the dearest thing a session does, and many at once slow each other
 * down: 200 take twice as long together as ten at a time. Those that connect beside others are spread by a jitter; who comes
 * alone, woken by a command as a rule, begins at once.
 */
export class ConnectSlots {
  private free: number;
  private readonly queue: (() => void)[] = [];

  constructor(
    private readonly slots: number,
    private readonly jitterMs = 0,
    private readonly wait: (ms: number) => Promise<unknown> = delay,
  ) {
    this.free = slots;
  }

  /** Waits for a slot. @returns gives it back; safe to call twice */
  async take(): Promise<() => void> {
    const alone = this.free === this.slots;
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.queue.push(resolve));
    if (!alone && this.jitterMs > 0) await this.wait(Math.random() * this.jitterMs);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const next = this.queue.shift();
      if (next) next();
      else this.free++;
    };
  }
}
