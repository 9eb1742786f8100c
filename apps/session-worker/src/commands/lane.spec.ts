import { setImmediate as turn } from 'node:timers/promises';
import { deferred } from '../socket/deferred.js';
import { Lane, Lanes, type LaneClock } from './lane.js';

function testClock() {
  const timers = new Set<{ atMs: number; callback: () => void }>();
  const clock = {
    nowMs: 1_000,
    now: () => clock.nowMs,
    schedule: (delayMs: number, callback: () => void) => {
      const timer = { atMs: clock.nowMs + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    timers,
    /** Moves the time; due timers fire as they would. */
    advance: (byMs: number) => {
      clock.nowMs += byMs;
      for (const timer of timers) {
        if (timer.atMs > clock.nowMs) continue;
        timers.delete(timer);
        timer.callback();
      }
    },
  };
  return clock satisfies LaneClock;
}

const FAR = 1_000_000;

describe('Lane', () => {
  it('is held by one command at a time', async () => {
    const lane = new Lane(testClock());
    const leave = await lane.enter({ order: 1, startBy: FAR });
    let second = false;
    const waiting = lane.enter({ order: 2, startBy: FAR }).then((leaveSecond) => {
      second = true;
      return leaveSecond;
    });
    await turn();
    expect(second).toBe(false);
    leave();
    (await waiting)();
    expect(lane.idle).toBe(true);
  });

  it('is given in the order of calls, whatever the order of arrival', async () => {
    const lane = new Lane(testClock());
    const started: number[] = [];
    const enter = async (order: number): Promise<void> => {
      const leave = await lane.enter({ order, startBy: FAR });
      started.push(order);
      await turn();
      leave();
    };
    await Promise.all([3, 1, 5, 2, 4].map(enter));
    expect(started).toEqual([1, 2, 3, 4, 5]);
  });

  it('refuses with 503, and never starts, what has not started by its time', async () => {
    const clock = testClock();
    const lane = new Lane(clock);
    const leave = await lane.enter({ order: 1, startBy: FAR });
    const late = lane.enter({ order: 2, startBy: clock.nowMs + 50 });
    const patient = lane.enter({ order: 3, startBy: FAR });
    const refused = expect(late).rejects.toMatchObject({ status: 503 });
    clock.advance(50);
    await refused;
    leave();
    (await patient)();
    expect(lane.idle).toBe(true);
    expect(clock.timers.size).toBe(0);
  });

  it('does not start a command whose timer is late', async () => {
    const clock = testClock();
    const lane = new Lane(clock);
    const leave = await lane.enter({ order: 1, startBy: FAR });
    const late = lane.enter({ order: 2, startBy: clock.nowMs + 50 });
    const next = lane.enter({ order: 3, startBy: FAR });
    clock.nowMs += 60; // the timer has not fired yet
    leave();
    await next;
    const refused = expect(late).rejects.toMatchObject({ status: 503 });
    clock.advance(0);
    await refused;
  });

  it('refuses at once what comes too late', async () => {
    const clock = testClock();
    await expect(new Lane(clock).enter({ order: 1, startBy: clock.nowMs })).rejects.toMatchObject({ status: 503 });
  });

  it('is left once, even if a command leaves it twice', async () => {
    const lane = new Lane(testClock());
    const leave = await lane.enter({ order: 1, startBy: FAR });
    leave();
    const second = await lane.enter({ order: 2, startBy: FAR });
    leave();
    let third = false;
    const waiting = lane.enter({ order: 3, startBy: FAR }).then(() => (third = true));
    await turn();
    expect(third).toBe(false);
    second();
    await waiting;
  });
});

describe('a command that has to be prepared', () => {
  it('keeps its place: those behind it, prepared or not, start after it and in their order', async () => {
    const lane = new Lane(testClock());
    const [slow, quick] = [deferred<void>(), deferred<void>()];
    const started: number[] = [];
    const enter = async (order: number, prepared?: Promise<void>): Promise<void> => {
      const leave = await lane.enter({ order, startBy: FAR, prepared });
      started.push(order);
      leave();
    };
    const all = [enter(1, slow.promise), enter(2, quick.promise), enter(3)];
    quick.resolve();
    await turn();
    await turn();
    expect(started).toEqual([]);
    slow.resolve();
    await Promise.all(all);
    expect(started).toEqual([1, 2, 3]);
  });

  it('leaves the line at once when its preparation fails, with that failure', async () => {
    const clock = testClock();
    const lane = new Lane(clock);
    const failed = lane.enter({ order: 1, startBy: FAR, prepared: Promise.reject(new Error('no such file')) });
    const next = lane.enter({ order: 2, startBy: FAR });
    await expect(failed).rejects.toThrow('no such file');
    (await next)();
    expect([lane.idle, clock.timers.size]).toEqual([true, 0]);
  });

  it('is refused with 503 when it is not prepared in time, and those behind it go on', async () => {
    const clock = testClock();
    const lane = new Lane(clock);
    const late = lane.enter({ order: 1, startBy: clock.nowMs + 100, prepared: new Promise(() => undefined) });
    const impatient = lane.enter({ order: 2, startBy: clock.nowMs + 50 });
    const patient = lane.enter({ order: 3, startBy: FAR });
    const refused = Promise.all([
      expect(impatient).rejects.toMatchObject({ status: 503, details: expect.stringMatching(/^busy/) as string }),
      expect(late).rejects.toMatchObject({ status: 503, details: 'the message could not be prepared in time' }),
    ]);
    clock.advance(50);
    clock.advance(50);
    await refused;
    (await patient)();
    expect(lane.idle).toBe(true);
  });
});

describe('Lanes', () => {
  it('let channels run in parallel and hold nothing of idle ones', async () => {
    const lanes = new Lanes(testClock());
    const [one, two] = await Promise.all([
      lanes.enter('a', { order: 1, startBy: FAR }),
      lanes.enter('b', { order: 2, startBy: FAR }),
    ]);
    expect(lanes.size).toBe(2);
    one();
    two();
    expect(lanes.size).toBe(0);
  });
});
