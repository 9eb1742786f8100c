/**
 * Baileys leaves timers of up to two minutes behind each socket that it closes (timeouts of queries that were answered,
 * delays before what is not sent any more), and nothing can clear them: after a spec they are kept from keeping the process
 * alive. Servers and connections are not: what a spec leaves open of those shows itself as a run that does not end.
 */

/** Remembers the timers that are set from now on. @returns how to end it: what runs then no longer keeps the process alive */
export function rememberTimers(globals: Pick<typeof globalThis, 'setTimeout'>): () => void {
  const timers = new Set<NodeJS.Timeout>();
  const original = globals.setTimeout;
  const remembering = <Arguments extends unknown[]>(
    callback: (...given: Arguments) => void,
    delayMs?: number,
    ...given: Arguments
  ): NodeJS.Timeout => {
    const timer = original(
      (...values: Arguments) => {
        timers.delete(timer);
        callback(...values);
      },
      delayMs,
      ...given,
    );
    timers.add(timer);
    return timer;
  };
  globals.setTimeout = Object.assign(remembering, original);
  return () => {
    globals.setTimeout = original;
    for (const timer of timers) timer.unref();
    timers.clear();
  };
}
