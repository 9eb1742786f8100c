/** What a series of timed calls says. */
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

/**
 * Runs `call` `total` times with `inFlight` at once and measures each.
 * @param call is given the running number of the call
 */
export async function measure(
  call: (index: number) => Promise<void>,
  { total, inFlight }: { total: number; inFlight: number },
): Promise<Summary> {
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
  return summarize(latenciesMs, performance.now() - startedAt);
}
