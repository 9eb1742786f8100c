/** Makes `perSecond` calls of `send` a second until it is stopped; counts what failed. */
export function traffic(perSecond: number, send: (index: number) => Promise<unknown>) {
  let count = 0;
  let failed = 0;
  const running = new Set<Promise<unknown>>();
  const timer = setInterval(() => {
    if (running.size > perSecond * 10) return; // a machine that cannot keep up gets no more calls
    const call = send(count++)
      .catch(() => void failed++)
      .finally(() => running.delete(call));
    running.add(call);
  }, 1_000 / perSecond);
  return {
    figures: () => ({ count, failed }),
    stop: async () => {
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}
