/** Whether a session is needed: the uses that run, and the time of the last request or message. */
export class Activity {
  private uses = 0;
  /** Those of them that were requested. */
  private requests = 0;
  private lastMs: number;
  /** Woken on schedule, to receive what has arrived meanwhile; no request has come since. */
  private fetching = false;
  private caughtUp = false;

  constructor(private readonly now: () => number) {
    this.lastMs = now();
  }

  /**
   * Marks the session as used until the returned function is called.
   * @param options.counts false: this use does not keep the session awake afterwards
   */
  begin({ counts = true } = {}): () => void {
    this.uses += 1;
    if (counts) {
      this.requests += 1;
      this.touch();
    }
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.uses -= 1;
      if (!counts) return;
      this.requests -= 1;
      this.touch();
    };
  }

  get inUse(): boolean {
    return this.uses > 0;
  }

  /** Whether a request waits for it or uses it. */
  get inDemand(): boolean {
    return this.requests > 0;
  }

  /** A request came, or something was received. */
  touch(): void {
    this.lastMs = this.now();
    this.fetching = false;
  }

  /** The session is opened only to receive what has arrived meanwhile. */
  fetch(): void {
    this.lastMs = this.now();
    this.fetching = true;
    this.caughtUp = false;
  }

  /** The network has delivered everything that arrived while the session was away. */
  caught(): void {
    this.caughtUp = true;
    if (this.fetching) this.lastMs = this.now();
  }

  /**
   * Time since which nothing happened, in epoch milliseconds, and how it counts: `fetched` when the session was opened only
   * to fetch and has done so, `fetching` while it has not.
   */
  get quiet(): { sinceMs: number; as: 'idle' | 'fetched' | 'fetching' } {
    return { sinceMs: this.lastMs, as: !this.fetching ? 'idle' : this.caughtUp ? 'fetched' : 'fetching' };
  }
}
