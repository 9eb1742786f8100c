import type { Claim } from '@dormouse/event-outbox/delivery';
import { WhileLeased } from './while-leased.js';

const failure = (code: string): Error => Object.assign(new Error('failed'), { code });

describe('WhileLeased', () => {
  const claim: Claim = {
    ...{ channelId: 'c', webhookId: 'w', accountId: 'a', lease: 'l', position: 0n, attempts: 0, refusals: 0 },
    ...{ lastFailure: undefined, paused: false, held: new Set(), hasHeld: false, heldIsDue: false, redriving: false },
    ...{ unlogged: [], queued: [], accepted: false, leaseEndsAtMs: 1_000 },
  };
  let nowMs = 0;
  const leased = new WhileLeased(
    () => nowMs,
    (ms) => Promise.resolve((nowMs += ms)),
  );

  beforeEach(() => {
    nowMs = 0;
  });

  it('repeats a statement while PostgreSQL is away, until the lease is about to end', async () => {
    const work = jest.fn(() => Promise.reject(failure('ECONNREFUSED')));
    await expect(leased.read(claim, work)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    // At 0, 250, 500 and 750 ms; the next would begin when the lease of 1,000 ms has ended.
    expect([work.mock.calls.length, nowMs]).toEqual([4, 750]);
  });

  it('repeats nothing that can never succeed', async () => {
    const work = jest.fn(() => Promise.reject(failure('22P02')));
    await expect(leased.read(claim, work)).rejects.toMatchObject({ code: '22P02' });
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('makes the writes of a claim one after the other, also after one that failed', async () => {
    const made: string[] = [];
    let fail: (error: Error) => void = () => undefined;
    const first = leased.write(claim, () => {
      made.push('first');
      return new Promise((_resolve, reject) => (fail = reject));
    });
    const second = leased.write(claim, () => Promise.resolve(made.push('second')));
    await Promise.resolve();
    expect(made).toEqual(['first']);
    fail(failure('22P02'));
    await expect(first).rejects.toMatchObject({ code: '22P02' });
    await second;
    expect(made).toEqual(['first', 'second']);
  });
});
