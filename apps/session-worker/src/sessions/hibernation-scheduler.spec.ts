import type { ChannelRecord } from '@dormouse/channel-directory';
import { DEFAULT_SETTINGS } from '@dormouse/gateway-contract';
import { setImmediate as turn } from 'node:timers/promises';
import { DEFAULT_SLEEP } from '../hibernation/sleep-policy.js';
import { Activity } from './activity.js';
import { deferred } from '../socket/deferred.js';
import type { Session } from './session.js';
import { HibernationScheduler, type HibernationSchedulerOptions } from './hibernation-scheduler.js';

const MINUTE_MS = 60_000;
const AT_ONCE = 3;

/** A session that only records when it is put to sleep. */
class TestSession {
  readonly activity: Activity;
  readonly wakesAtMs: number[] = [];
  open = true;

  constructor(
    readonly channelId: string,
    now: () => number,
  ) {
    this.activity = new Activity(now);
  }

  get canHibernate(): boolean {
    return this.open && !this.activity.inUse;
  }

  sleep(wakeAtMs: number): Promise<boolean> {
    this.open = false;
    this.wakesAtMs.push(wakeAtMs);
    return Promise.resolve(true);
  }
}

function setup({ due = [] as string[], sleep = null as ChannelRecord['sleep'] } = {}) {
  const clock = { nowMs: 1_800_000_000_000, now: () => clock.nowMs };
  const fetching = new Map<string, ReturnType<typeof deferred<void>>>();
  const begun: string[] = [];
  const all: TestSession[] = [];
  const queries: unknown[] = [];
  const sessions = {
    all: all as unknown as Session[],
    held: [{ isHeld: () => true, fence: { shard: 4, epoch: 1n } }],
    fetch: (channelId: string) => {
      const fetched = deferred<void>();
      fetching.set(channelId, fetched);
      begun.push(channelId);
      return fetched.promise.finally(() => fetching.delete(channelId));
    },
    tidy: () => Promise.resolve(),
  };
  const pool = {
    query: ({ values }: { values: unknown[] }) => {
      queries.push(values);
      return Promise.resolve({ rows: due.map((id) => ({ id })) });
    },
  };
  const directory = { byId: () => Promise.resolve({ settings: DEFAULT_SETTINGS, sleep } as unknown as ChannelRecord) };
  const scheduler = new HibernationScheduler({
    sessions: sessions as unknown as HibernationSchedulerOptions['sessions'],
    directory,
    database: { pool } as unknown as HibernationSchedulerOptions['database'],
    defaults: DEFAULT_SLEEP,
    everyMs: 1_000,
    atOnce: AT_ONCE,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined },
    now: clock.now,
  });
  const session = (channelId: string): TestSession => {
    const made = new TestSession(channelId, clock.now);
    all.push(made);
    return made;
  };
  return { scheduler, clock, fetching, begun, session, queries };
}

describe('HibernationScheduler', () => {
  it('wakes a few at once, the most overdue first, and all of them in the end', async () => {
    const due = Array.from({ length: 10 }, (_, index) => `overdue-${index}`);
    const { scheduler, fetching, begun } = setup({ due });
    await scheduler.runRound();
    for (let woken = 0; woken < due.length; woken += 1) {
      await turn();
      expect(fetching.size).toBeLessThanOrEqual(AT_ONCE);
      const [first] = fetching.values();
      first?.resolve();
    }
    await turn();
    expect(begun).toEqual(due);
  });

  it('does not wake a channel twice that is still on its way', async () => {
    const { scheduler, begun } = setup({ due: ['one'] });
    await scheduler.runRound();
    await scheduler.runRound();
    await turn();
    expect(begun).toEqual(['one']);
  });

  it('searches only channels of shards that are certainly held', async () => {
    const { scheduler, queries } = setup();
    await scheduler.runRound();
    expect(queries).toEqual([[[4], expect.any(Number)]]);
  });

  it('puts a session to sleep that was idle for the time of its policy, with a wake of its own within the period', async () => {
    const { scheduler, clock, session } = setup();
    const [one, other] = [session('one'), session('other')];
    clock.nowMs += 14 * MINUTE_MS;
    other.activity.touch();
    clock.nowMs += MINUTE_MS;
    await scheduler.runRound();
    await turn();
    expect([one.open, other.open]).toEqual([false, true]);
    const [wakesAtMs] = one.wakesAtMs;
    expect(wakesAtMs).toBeGreaterThan(clock.nowMs);
    expect(wakesAtMs).toBeLessThanOrEqual(clock.nowMs + 1.1 * (DEFAULT_SLEEP.quiet.drainEveryMs + 1));
  });

  it('does not put a session to sleep that is in use, however long', async () => {
    const { scheduler, clock, session } = setup();
    const used = session('used');
    const end = used.activity.begin();
    clock.nowMs += 24 * 60 * MINUTE_MS;
    await scheduler.runRound();
    expect(used.open).toBe(true);
    end();
    clock.nowMs += 15 * MINUTE_MS;
    await scheduler.runRound();
    await turn();
    expect(used.open).toBe(false);
  });

  it('never puts a session to sleep whose channel is set to stay awake', async () => {
    const { scheduler, clock, session } = setup({ sleep: { idleAfterMs: null } });
    const awake = session('awake');
    clock.nowMs += 40 * 24 * 60 * MINUTE_MS;
    await scheduler.runRound();
    await turn();
    expect(awake.open).toBe(true);
  });

  it('retries a wake that failed', async () => {
    const { scheduler, fetching, begun } = setup({ due: ['fails'] });
    await scheduler.runRound();
    await turn();
    fetching.get('fails')?.reject(new Error('no network'));
    await turn();
    await scheduler.runRound();
    await turn();
    expect(begun).toEqual(['fails', 'fails']);
  });
});
