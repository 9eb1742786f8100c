/** Runs jobs one after another; one that fails does not stop the next. */
export class Serial {
  private tail: Promise<unknown> = Promise.resolve();

  run<T>(job: () => Promise<T> | T): Promise<T> {
    const result = this.tail.then(job);
    this.tail = result.catch(() => undefined);
    return result;
  }

  /** Resolves when everything queued so far is done. */
  async idle(): Promise<void> {
    await this.tail;
  }
}
