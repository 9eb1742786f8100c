import { Alarm } from './alarm.js';

describe('Alarm', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('rings once at the earliest time set, and can be set again', () => {
    const ring = jest.fn();
    const alarm = new Alarm(ring);
    [500, 100, 300].forEach((ms) => alarm.ringWithin(ms));
    jest.advanceTimersByTime(99);
    expect(ring).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1_000);
    expect(ring).toHaveBeenCalledTimes(1);
    alarm.ringWithin(10);
    jest.advanceTimersByTime(10);
    expect(ring).toHaveBeenCalledTimes(2);
  });

  it('does not ring once cancelled', () => {
    const ring = jest.fn();
    const alarm = new Alarm(ring);
    alarm.ringWithin(10);
    alarm.cancel();
    jest.advanceTimersByTime(1_000);
    expect(ring).not.toHaveBeenCalled();
  });
});
