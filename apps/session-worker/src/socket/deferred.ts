/** A promise that is settled from outside. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((resolvePromise, rejectPromise) => {
    resolve = resolvePromise;
    reject = rejectPromise;
  });
  return { promise, resolve, reject };
}

/**
 * Waits for `work`, but no longer than `waitMs`.
 * @returns whether it ended in time; a failure counts as an end
 */
export async function endsWithin(waitMs: number, work: Promise<unknown>): Promise<boolean> {
  const tooLong = deferred<boolean>();
  const timer = setTimeout(() => tooLong.resolve(false), waitMs);
  const ended = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, tooLong.promise]);
  } finally {
    clearTimeout(timer);
  }
}
