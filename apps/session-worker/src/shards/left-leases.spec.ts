import type { Fence } from '@dormouse/database';
import { LeftLeases } from './left-leases.js';

const FENCE: Fence = { shard: 3, epoch: 7n };

function setup() {
  const state = { nowMs: 0, isAway: false };
  const released: Fence[] = [];
  const left = new LeftLeases({
    now: () => state.nowMs,
    release: (fence) => {
      if (state.isAway) return Promise.reject(new Error('PostgreSQL is away'));
      released.push(fence);
      return Promise.resolve();
    },
  });
  return { state, released, left };
}

describe('LeftLeases', () => {
  it('releases no lease before the sockets of its shard have had their time to close, and each once', async () => {
    const { state, released, left } = setup();
    left.add(FENCE, 3_000);
    state.nowMs = 2_999;
    await left.releaseDue();
    expect(released).toEqual([]);
    state.nowMs = 3_000;
    await left.releaseDue();
    await left.releaseDue();
    expect(released).toEqual([FENCE]);
  });

  it('keeps a lease whose release failed for the next time', async () => {
    const { state, released, left } = setup();
    left.add(FENCE, 0);
    state.isAway = true;
    await expect(left.releaseDue()).rejects.toThrow('away');
    state.isAway = false;
    await left.releaseDue();
    expect(released).toEqual([FENCE]);
  });
});
