/** Whether a session is needed: who uses it at the moment, and when it last did something for anybody. */
export class Activity {
  private uses = 0;
  /** Those of them that somebody asked for. */
  private wishes = 0;
  private lastMs: number;
  /** Woken by itself, to fetch what came meanwhile; nobody has asked for anything since. */
  private fetching = false;
  private caughtUp = false;

  constructor(private readonly now: () => number) {
    this.lastMs = now();
  }

  /**
   * Somebody uses the session until what is returned is called.
   * @param options.counts false: that is no reason for it to stay awake afterwards
   */
  begin({ counts = true } = {}): () => void {
    this.uses += 1;
    if (counts) {
      this.wishes += 1;
      this.touch();
    }
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.uses -= 1;
      if (!counts) return;
      this.wishes -= 1;
      this.touch();
    };
  }

  get inUse(): boolean {
    return this.uses > 0;
  }

  /** Does somebody who asked for it wait for it or use it? */
  get wanted(): boolean {
    return this.wishes > 0;
  }

  /** A request came, or something was received. */
  touch(): void {
    this.lastMs = this.now();
    this.fetching = false;
  }

  /** The session is opened only to fetch what came meanwhile. */
  fetch(): void {
    this.lastMs = this.now();
    this.fetching = true;
    this.caughtUp = false;
  }

  /** The network has handed over everything that came while the session was away. */
  caught(): void {
    this.caughtUp = true;
    if (this.fetching) this.lastMs = this.now();
  }

  /**
   * Since when nothing happened, in epoch milliseconds, and how that is to be counted: `fetched` when it was opened
   * only to fetch and has, `fetching` while it has not.
   */
  get quiet(): { sinceMs: number; as: 'idle' | 'fetched' | 'fetching' } {
    return { sinceMs: this.lastMs, as: !this.fetching ? 'idle' : this.caughtUp ? 'fetched' : 'fetching' };
  }
}
