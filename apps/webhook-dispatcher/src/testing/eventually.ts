/** Reads again until the value is as it should be; for state without a notification. */
export async function eventually<T>(look: () => Promise<T>, isRight: (value: T) => boolean): Promise<T> {
  const giveUpAtMs = performance.now() + 10_000;
  for (;;) {
    const value = await look();
    if (isRight(value)) return value;
    if (performance.now() > giveUpAtMs) throw new Error(`never came true; last seen: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
