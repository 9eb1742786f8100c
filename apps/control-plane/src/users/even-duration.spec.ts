import { evenDuration, evenFailure } from './even-duration.js';

describe('evenDuration', () => {
  it('ends at a quarter of a second, whatever was done and whether it failed', async () => {
    const durationOf = async (work: () => Promise<unknown>): Promise<number> => {
      const startedMs = performance.now();
      await evenDuration(work).catch(() => undefined);
      return performance.now() - startedMs;
    };
    const [none, failed, busy] = await Promise.all([
      durationOf(() => Promise.resolve()),
      durationOf(() => Promise.reject(new Error('failed'))),
      durationOf(() => new Promise((resolve) => setTimeout(resolve, 260))),
    ]);
    expect(none).toBeGreaterThanOrEqual(245);
    expect(failed).toBeGreaterThanOrEqual(245);
    expect(busy).toBeGreaterThanOrEqual(495);
  });

  it('may be for failures alone', async () => {
    const startedMs = performance.now();
    await evenFailure(() => Promise.resolve());
    expect(performance.now() - startedMs).toBeLessThan(200);
    await expect(evenFailure(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(245);
  });
});
