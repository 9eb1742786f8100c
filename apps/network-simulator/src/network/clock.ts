import type { Store } from '../store/store.js';

const FILE = 'clock.json';

/** The network's time: another clock's, moved forward as far as somebody wants. Outlives the process with the store. */
export class Clock {
  private moved = 0;

  /** @param base milliseconds since 1970 */
  constructor(
    private readonly store: Store,
    private readonly base: () => number = Date.now,
  ) {}

  async load(): Promise<void> {
    const stored = (await this.store.json(FILE)) as { movedMs: number } | undefined;
    this.moved = stored?.movedMs ?? 0;
  }

  /** Milliseconds since 1970. */
  readonly now = (): number => this.base() + this.moved;

  /** How far it is ahead, in milliseconds. */
  get movedMs(): number {
    return this.moved;
  }

  /** Moves it forward. */
  move(ms: number): void {
    this.set(this.moved + ms);
  }

  /** Back to the real time. */
  reset(): void {
    this.set(0);
  }

  private set(movedMs: number): void {
    this.moved = movedMs;
    this.store.save(FILE, () => ({ movedMs: this.moved }));
  }
}
