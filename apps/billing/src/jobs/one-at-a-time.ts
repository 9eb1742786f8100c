/**
 * Work of one kind, not twice at the same time in this process: what is requested while it runs leads to one more run. A job of an
 * absent region takes seconds, and the next ones of the same region must not take the places of others.
 */
export class OneAtATime {
  readonly #running = new Set<string>();
  readonly #again = new Set<string>();

  /** Runs the work, or has the run that is under way be followed by another one. @throws what the work throws */
  async run(name: string, work: () => Promise<void>): Promise<void> {
    if (this.#running.has(name)) {
      this.#again.add(name);
      return;
    }
    this.#running.add(name);
    try {
      do {
        this.#again.delete(name);
        await work();
      } while (this.#again.has(name));
    } finally {
      this.#running.delete(name);
    }
  }
}
