import { backoffMs } from './delivery.js';

describe('backoffMs', () => {
  it('grows by the delay with every failed attempt, up to the cap', () => {
    const settings = { callback_backoff_delay_ms: 3_000, max_callback_backoff_delay_ms: 600_000 };
    expect([1, 2, 3, 199, 200, 201, 5_000].map((attempts) => backoffMs(settings, attempts))).toEqual([
      3_000, 6_000, 9_000, 597_000, 600_000, 600_000, 600_000,
    ]);
  });
});
