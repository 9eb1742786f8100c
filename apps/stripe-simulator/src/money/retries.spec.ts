import { DEFAULT_COLLECTION_RULES, nextAttempt } from './retries.js';

describe('retries', () => {
  it('come three, eight and thirteen days after the first failure, and no more', () => {
    const DAY = 86_400;
    const attempts = [0];
    for (let next: number | null = 0; next !== null;) {
      next = nextAttempt(DEFAULT_COLLECTION_RULES, attempts.length, attempts.at(-1) ?? 0);
      if (next !== null) attempts.push(next);
    }
    expect(attempts.map((moment) => moment / DAY)).toEqual([0, 3, 8, 13]);
  });
});
