/**
 * What a server has opened on the way to its start, so that all of it is closed again: at its end, and when the start fails half-way.
 *
 * Guarantees: parts are closed one after another, the last one first, each once; one that cannot be closed keeps no other open.
 */
type Close = () => Promise<unknown> | void;

export class OpenedParts {
  readonly #closes: Close[] = [];

  /**
   * Opens a server.
   * @throws what `open` throws, after everything that it had opened is closed
   */
  static async of<T>(open: (parts: OpenedParts) => Promise<T>): Promise<T> {
    const parts = new OpenedParts();
    try {
      return await open(parts);
    } catch (error) {
      // Why the start failed is what matters.
      await parts.close().catch(() => undefined);
      throw error;
    }
  }

  /** Notes a part that is open now. @returns the part */
  add<Part>(part: Part, close: (part: Part) => Promise<unknown> | void): Part {
    this.#closes.push(() => close(part));
    return part;
  }

  /** Closes everything. @throws the first failure, when all others are closed */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closes.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
