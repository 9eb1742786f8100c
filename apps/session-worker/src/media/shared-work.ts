/**
 * Work by name whose result several callers share: it runs once for all callers that join while it runs, and is aborted when
 * the last caller has left.
 */
interface UnderWay<Result> {
  readonly result: Promise<Result>;
  readonly abandoned: AbortController;
  callers: number;
}

export class SharedWork<Result> {
  private readonly underWay = new Map<string, UnderWay<Result>>();

  /**
   * @param work gets a signal that is aborted when no caller waits any more
   * @param signal aborted when this caller leaves; absent: it waits to the end
   * @throws what the work throws; the signal's reason
   */
  async join(name: string, work: (signal: AbortSignal) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    const shared = this.underWay.get(name) ?? this.begin(name, work);
    shared.callers += 1;
    let leave = (): void => undefined;
    const gone = new Promise<never>((_, reject) => {
      leave = () => reject(signal?.reason as Error);
      signal?.addEventListener('abort', leave, { once: true });
    });
    try {
      return await Promise.race([shared.result, gone]);
    } finally {
      signal?.removeEventListener('abort', leave);
      shared.callers -= 1;
      if (shared.callers === 0) this.end(name, shared);
    }
  }

  private begin(name: string, work: (signal: AbortSignal) => Promise<Result>): UnderWay<Result> {
    const abandoned = new AbortController();
    const shared: UnderWay<Result> = { result: work(abandoned.signal), abandoned, callers: 0 };
    const done = (): void => this.end(name, shared);
    shared.result.then(done, done);
    this.underWay.set(name, shared);
    return shared;
  }

  private end(name: string, shared: UnderWay<Result>): void {
    if (this.underWay.get(name) === shared) this.underWay.delete(name);
    shared.abandoned.abort(new Error('no caller waits any more'));
  }
}
