/** Figures of a series of timed calls. */
export interface Summary {
  count: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  perSecond: number;
}

/** Summary of latencies measured over `elapsedMs` of wall time. */
export function summarize(latenciesMs: readonly number[], elapsedMs: number): Summary {
  const sorted = [...latenciesMs].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return {
    count: sorted.length,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
    perSecond: (sorted.length / elapsedMs) * 1_000,
  };
}

/** A series of timed calls. */
export interface Timed {
  readonly latenciesMs: readonly number[];
  /** From the first call to the end of the last. */
  readonly elapsedMs: number;
}

export interface Series {
  readonly total: number;
  readonly inFlight: number;
}

/**
 * Runs `call` `total` times with `inFlight` at once and times each.
 * @param call receives the number of the call
 */
export async function time(call: (index: number) => Promise<void>, { total, inFlight }: Series): Promise<Timed> {
  const latenciesMs: number[] = [];
  let next = 0;
  const startedAt = performance.now();
  const lane = async () => {
    for (let index = next++; index < total; index = next++) {
      const calledAt = performance.now();
      await call(index);
      latenciesMs.push(performance.now() - calledAt);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return { latenciesMs, elapsedMs: performance.now() - startedAt };
}

/** Calls that are due at fixed times. */
export interface Pace {
  readonly perSecond: number;
  readonly seconds: number;
}

/**
 * Makes calls at fixed times, whether or not earlier ones have ended; waiting for a late one counts as latency.
 * @param call receives the number of the call
 * @returns latencies in the order of the calls
 */
export async function steadily(call: (index: number) => Promise<void>, { perSecond, seconds }: Pace): Promise<Timed> {
  const startedAt = performance.now();
  const calls: Promise<number>[] = [];
  for (let index = 0; index < seconds * perSecond; index += 1) {
    const dueAt = startedAt + (index * 1_000) / perSecond;
    const earlyMs = dueAt - performance.now();
    if (earlyMs > 0) await new Promise((resolve) => setTimeout(resolve, earlyMs));
    calls.push(call(index).then(() => performance.now() - dueAt));
  }
  return { latenciesMs: await Promise.all(calls), elapsedMs: performance.now() - startedAt };
}

/** See {@link time}. */
export async function measure(call: (index: number) => Promise<void>, series: Series): Promise<Summary> {
  return summarizeAll([await time(call, series)]);
}

/** Summary of several series, as if they had followed each other at once. */
export function summarizeAll(series: readonly Timed[]): Summary {
  const elapsedMs = series.reduce((sum, each) => sum + each.elapsedMs, 0);
  return summarize(
    series.flatMap(({ latenciesMs }) => latenciesMs),
    elapsedMs,
  );
}
