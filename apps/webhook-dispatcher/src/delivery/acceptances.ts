/**
 * Records what a receiver has accepted while it is sent the next events, so that the database does not set the pace of a
 * receiver that is quick.
 *
 * Guarantees: one write at a time, and each has everything that was accepted until it began. It begins `withinMs` after the
 * first event that it has, or when these are half of `mostEvents`. What was accepted and is not recorded yet is never more than
 * `mostEvents`, and none at all after an answer that took longer than `quickMs`: until there is room nothing more is posted.
 * That bound is what a crash posts again. It holds over everything that is posted under one claim, in however many batches.
 * The last event alone is `noted` and counted when the delivery goes on: mostly it ends there, and gives the cursor back by a
 * write that has everything. With PostgreSQL away the first write waits for it under the lease, and so does the
 * delivery once the bound is reached.
 */
export interface RunAhead {
  mostEvents: number;
  withinMs: number;
  quickMs: number;
}

export class Acceptances {
  /** Accepted since the present write began, and in that write. */
  #unwritten = 0;
  #underWay = 0;
  /** How long the answer to the last event took, which is not counted yet. */
  #notedMs: number | undefined;
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** What is unwritten is not to wait for more. */
  #isDue = false;
  #holds = true;
  #failure: { error: unknown } | undefined;
  #ended = false;

  /** @param write records everything until now; false: the lease is lost */
  constructor(
    private readonly write: () => Promise<boolean>,
    private readonly limits: RunAhead,
  ) {}

  /** The position moved: past an event that was accepted in this time, or past some that are not posted. */
  note(tookMs = 0): void {
    this.#notedMs = Math.max(this.#notedMs ?? 0, tookMs);
  }

  /**
   * Has what was noted recorded. Resolves when the next event may be posted; false: the lease is lost.
   * @throws when it cannot be recorded
   */
  async settle(): Promise<boolean> {
    const { mostEvents, quickMs, withinMs } = this.limits;
    const tookMs = this.#notedMs;
    if (tookMs === undefined) return this.#outcome();
    this.#notedMs = undefined;
    this.#unwritten += 1;
    const isQuick = tookMs <= quickMs;
    if (!isQuick || this.#unwritten >= mostEvents / 2) this.#becomeDue();
    else this.#timer ??= setTimeout(() => this.#becomeDue(), withinMs);
    const room = isQuick ? mostEvents : 1;
    while (this.#writing && this.#unwritten + this.#underWay >= room) await this.#writing;
    return this.#outcome();
  }

  /** Writes at once, whether something was noted or not. False: the lease is lost. @throws when it cannot be recorded */
  async record(): Promise<boolean> {
    await this.#written();
    this.#notedMs = undefined;
    this.#becomeDue();
    await this.#written();
    return this.#outcome();
  }

  /** Begins no more writes: the caller's next one has everything. Resolves when the present one is done, too. */
  async end(): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#timer);
    await this.#written();
  }

  /** Resolves when no write is under way. */
  async #written(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  #outcome(): boolean {
    if (this.#failure) throw this.#failure.error;
    return this.#holds;
  }

  #becomeDue(): void {
    this.#isDue = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#begin();
  }

  #begin(): void {
    if (!this.#isDue || this.#writing || this.#ended || this.#failure || !this.#holds) return;
    this.#isDue = false;
    this.#underWay = this.#unwritten;
    this.#unwritten = 0;
    this.#writing = this.write().then(
      (holds) => this.#take(holds),
      (error: unknown) => this.#take(true, { error }),
    );
  }

  #take(holds: boolean, failure?: { error: unknown }): void {
    this.#writing = undefined;
    this.#underWay = 0;
    this.#holds &&= holds;
    this.#failure ??= failure;
    this.#begin();
  }
}
