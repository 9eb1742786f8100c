import { FencedError } from './fence.js';
import { retryWhileAway, type RetryTerms } from './retry-while-away.js';

const failure = (code: string): Error => Object.assign(new Error('failed'), { code });
const away = failure('ECONNREFUSED');

describe('retryWhileAway', () => {
  let pauses: number[] = [];
  let calls = 0;

  beforeEach(() => {
    pauses = [];
    calls = 0;
  });

  const retried = (outcomes: readonly (Error | string)[], terms: Partial<RetryTerms> = {}): Promise<string> =>
    retryWhileAway(
      () => {
        const outcome = outcomes[calls++] ?? 'no outcome';
        return typeof outcome === 'string' ? Promise.resolve(outcome) : Promise.reject(outcome);
      },
      {
        firstPauseMs: 100,
        longestPauseMs: 250,
        mayRetry: () => true,
        pause: (ms) => Promise.resolve(pauses.push(ms)),
        ...terms,
      },
    );

  it('repeats the work until the database is back, with pauses that double up to the longest', async () => {
    await expect(retried([away, away, away, away, 'written'])).resolves.toBe('written');
    expect(pauses).toEqual([100, 200, 250, 250]);
  });

  it('starts the first attempt at once, and waits for nothing when that succeeds', async () => {
    const written = retried(['written']);
    expect(calls).toBe(1);
    await written;
    expect(pauses).toEqual([]);
  });

  it('repeats nothing that the fence refused, or that failed by its own fault', async () => {
    const fenced = new FencedError({ shard: 1, epoch: 2n });
    for (const error of [fenced, failure('23505'), failure('22P05'), new TypeError('no')]) {
      calls = 0;
      await expect(retried([error])).rejects.toBe(error);
    }
    expect(pauses).toEqual([]);
  });

  it('ends with the newest error once the work may not be repeated', async () => {
    const newest = failure('ECONNRESET');
    const given: unknown[] = [];
    const mayRetry = (pauseMs: number, error: unknown): boolean => given.push([pauseMs, error]) < 2;
    await expect(retried([away, newest, 'written'], { mayRetry })).rejects.toBe(newest);
    expect(given).toEqual([
      [100, away],
      [200, newest],
    ]);
    expect(pauses).toEqual([100]);
  });

  it('does not repeat what became forbidden during the pause', async () => {
    await expect(retried([away, 'written'], { mayResume: () => false })).rejects.toBe(away);
    expect([calls, pauses]).toEqual([1, [100]]);
  });
});
