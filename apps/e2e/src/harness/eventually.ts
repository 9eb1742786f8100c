/** For what never comes: what is slow because the machine is busy has not failed. */
const WITHIN_MS = 60_000;

/**
 * Polls until there is an answer. For things that can only be polled over HTTP; the interval is short because
 * everything runs on loopback.
 * @throws the last reason once the deadline has passed
 */
export async function eventually<T>(
  poll: () => Promise<T | undefined | false>,
  options: { what: string; withinMs?: number; everyMs?: number },
): Promise<T> {
  const withinMs = options.withinMs ?? WITHIN_MS;
  const deadline = Date.now() + withinMs;
  let reason: unknown;
  while (Date.now() < deadline) {
    try {
      const answer = await poll();
      if (answer !== undefined && answer !== false) return answer;
      reason = undefined;
    } catch (error) {
      reason = error;
    }
    await new Promise((resolve) => setTimeout(resolve, options.everyMs ?? 50));
  }
  throw new Error(`not within ${withinMs} ms: ${options.what}`, { cause: reason });
}
