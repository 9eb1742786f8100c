import { fairShare } from './shard-leases.js';

describe('fairShare', () => {
  it('adds up to all shards, however many workers live, and differs by one at most', () => {
    for (let workers = 1; workers <= 11; workers++) {
      const ids = Array.from({ length: workers }, (_, n) => `w${n}`);
      const shares = ids.map((id) => fairShare(id, ids, 8));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(8);
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
    }
  });

  it('is nothing for a worker that does not count (draining, expired)', () => {
    expect(fairShare('w9', ['w1', 'w2'], 8)).toBe(0);
  });
});
