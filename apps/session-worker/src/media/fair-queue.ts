/**
 * A few slots shared by many owners. No owner has more than its share of slots, and slots that become free go round:
 * however much one owner asks for, another waits for two pieces of its work at most.
 */
export interface FairQueueOptions {
  /** Pieces of work at a time. */
  readonly slots: number;
  /** And of one owner. */
  readonly slotsPerOwner: number;
}

interface Waiting {
  start(): void;
}

export class FairQueue {
  /** Owners that wait, the one whose turn is next first. */
  private readonly waiting = new Map<string, Waiting[]>();
  private readonly running = new Map<string, number>();
  private taken = 0;

  constructor(private readonly options: FairQueueOptions) {}

  /**
   * Does `work` in its turn.
   * @throws the signal's reason when it is aborted before the work began
   */
  async run<T>(owner: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.turn(owner, signal);
    try {
      return await work();
    } finally {
      this.leave(owner);
    }
  }

  private turn(owner: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const place: Waiting = {
        start: () => {
          signal?.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      const giveUp = (): void => {
        this.remove(owner, place);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      const line = this.waiting.get(owner);
      if (line) line.push(place);
      else this.waiting.set(owner, [place]);
      this.next();
    });
  }

  private remove(owner: string, place: Waiting): void {
    const line = this.waiting.get(owner)?.filter((one) => one !== place) ?? [];
    if (line.length > 0) this.waiting.set(owner, line);
    else this.waiting.delete(owner);
  }

  private next(): void {
    for (const [owner, [first, ...rest]] of this.waiting) {
      if (this.taken >= this.options.slots) return;
      const own = this.running.get(owner) ?? 0;
      if (!first || own >= this.options.slotsPerOwner) continue;
      this.waiting.delete(owner);
      if (rest.length > 0) this.waiting.set(owner, rest); // behind the others
      this.taken += 1;
      this.running.set(owner, own + 1);
      first.start();
    }
  }

  private leave(owner: string): void {
    this.taken -= 1;
    const own = (this.running.get(owner) ?? 1) - 1;
    if (own > 0) this.running.set(owner, own);
    else this.running.delete(owner);
    this.next();
  }
}
