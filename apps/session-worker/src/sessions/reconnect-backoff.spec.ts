import { DEFAULT_BACKOFF, ReconnectBackoff, type BackoffLimits } from './reconnect-backoff.js';

const LIMITS: BackoffLimits = { baseMs: 1_000, maxDelayMs: 60_000, windowMs: 600_000, maxInWindow: 12 };

function backoff(limits = LIMITS, random = () => 0.999_999) {
  const clock = { nowMs: 0 };
  return { clock, backoff: new ReconnectBackoff(limits, () => clock.nowMs, random) };
}

describe('ReconnectBackoff', () => {
  it('doubles up to the longest delay', () => {
    const { backoff: tested } = backoff();
    const delays = Array.from({ length: 8 }, () => tested.afterClose());
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('keeps each delay between half and the whole of its step', () => {
    expect(backoff(LIMITS, () => 0).backoff.afterClose()).toBe(500);
    expect(backoff(LIMITS, () => 0.5).backoff.afterClose()).toBe(750);
  });

  it('goes on growing when the connection opened for a while in between', () => {
    const { clock, backoff: tested } = backoff();
    tested.afterClose();
    clock.nowMs += 45_000; // open for most of this time
    expect(tested.afterClose()).toBe(2_000);
  });

  it('forgets closes that have left the window', () => {
    const { clock, backoff: tested } = backoff();
    tested.afterClose();
    tested.afterClose();
    clock.nowMs += LIMITS.windowMs;
    expect(tested.afterClose()).toBe(1_000);
  });

  it('gives up after too many closes within the window', () => {
    const { backoff: tested } = backoff();
    for (let n = 0; n < LIMITS.maxInWindow; n++) expect(tested.afterClose()).toBeGreaterThan(0);
    expect(tested.afterClose()).toBeUndefined();
    tested.reset();
    expect(tested.afterClose()).toBe(1_000);
  });

  it('by default gives up within the hour of an outage, not within its first half', () => {
    const { clock, backoff: tested } = backoff(DEFAULT_BACKOFF, () => 0.5);
    for (let delayMs = tested.afterClose(); delayMs !== undefined; delayMs = tested.afterClose())
      clock.nowMs += delayMs;
    expect(clock.nowMs / 60_000).toBeGreaterThan(30);
    expect(clock.nowMs / 60_000).toBeLessThan(60);
  });
});
