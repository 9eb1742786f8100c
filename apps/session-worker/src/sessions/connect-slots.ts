/**
 * How many sessions connect at once. Connecting is the dearest thing a session does, and many at once slow each other
 * down: 200 take twice as long together as ten at a time.
 */
export class ConnectSlots {
  private free: number;
  private readonly queue: (() => void)[] = [];

  constructor(slots: number) {
    this.free = slots;
  }

  /** Waits for a slot. @returns gives it back; safe to call twice */
  async take(): Promise<() => void> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.queue.push(resolve));
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
