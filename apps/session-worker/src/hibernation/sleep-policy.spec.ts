import { CONTACT_EVERY_MS, DEFAULT_SLEEP, nextWakeMs, sleepTimes } from './sleep-policy.js';

const hook = (type: 'messages' | 'channel') => ({
  url: 'https://a.example',
  mode: 'body' as const,
  events: [{ type, method: 'post' as const }],
});
const quiet = { webhooks: [] };
const MINUTE_MS = 60_000;

describe('sleepTimes', () => {
  it('lets a channel without webhooks for what arrives sleep after 15 minutes and wakes it daily', () => {
    const times = { idleAfterMs: 15 * MINUTE_MS, drainEveryMs: 1_440 * MINUTE_MS };
    expect(sleepTimes(quiet, null, DEFAULT_SLEEP)).toEqual(times);
    expect(sleepTimes({ webhooks: [hook('channel')] }, null, DEFAULT_SLEEP)).toEqual(times);
  });

  it('lets a channel with such a webhook sleep after a day and wakes it every ten minutes', () => {
    const times = { idleAfterMs: 1_440 * MINUTE_MS, drainEveryMs: 10 * MINUTE_MS };
    expect(sleepTimes({ webhooks: [hook('channel'), hook('messages')] }, null, DEFAULT_SLEEP)).toEqual(times);
  });

  it('prefers what was set for the channel, and may let it never sleep', () => {
    expect(sleepTimes(quiet, { idleAfterMs: null }, DEFAULT_SLEEP)).toEqual({
      ...DEFAULT_SLEEP.quiet,
      idleAfterMs: null,
    });
    expect(sleepTimes(quiet, { drainEveryMs: 5 }, DEFAULT_SLEEP)).toEqual({ ...DEFAULT_SLEEP.quiet, drainEveryMs: 5 });
  });
});

describe('nextWakeMs', () => {
  const now = 1_800_000_000_000;
  const ids = Array.from({ length: 1_000 }, (_, n) => `CHANNEL-${n}`);

  it('spreads channels that fall asleep together evenly over the period', () => {
    const drainEveryMs = 600_000;
    const tenths = Array.from({ length: 10 }, () => 0);
    for (const id of ids) {
      const tenth = Math.floor(
        ((nextWakeMs(id, { idleAfterMs: null, drainEveryMs }, now) - now) / drainEveryMs) * 10 - 1,
      );
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    expect(tenths).toHaveLength(10);
    for (const count of tenths) expect(count).toBeGreaterThan(60);
  });

  it('keeps every channel in contact within three days, whatever was set for it', () => {
    for (const id of ids) {
      const wakeMs = nextWakeMs(id, { idleAfterMs: null, drainEveryMs: 100 * CONTACT_EVERY_MS }, now);
      expect(wakeMs - now).toBeLessThanOrEqual(CONTACT_EVERY_MS);
      expect(wakeMs).toBeGreaterThan(now);
    }
  });

  it('wakes a channel at the same place of each period', () => {
    const times = { idleAfterMs: null, drainEveryMs: 600_000 };
    const first = nextWakeMs('A', times, now);
    expect(nextWakeMs('A', times, first) - first).toBeLessThanOrEqual(600_001);
    expect(nextWakeMs('A', times, first) - first).toBeGreaterThanOrEqual(599_999);
  });
});
