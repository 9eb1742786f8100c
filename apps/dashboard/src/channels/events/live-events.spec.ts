import type { PulledEvent } from '@dormouse/management-contract';
import { LiveEvents } from './live-events.js';

const eventOf = (sequence: number): PulledEvent => ({
  id: `e${sequence}`,
  sequence,
  created_at_ms: sequence,
  body: {},
});

/** Live events whose frames are drawn by hand. */
function liveOf(limit: number) {
  const frames: (() => void)[] = [];
  const live = new LiveEvents(limit, (callback) => void frames.push(callback));
  let notified = 0;
  live.subscribe(() => (notified += 1));
  return {
    live,
    add: (...sequences: number[]) => sequences.forEach((sequence) => live.add(eventOf(sequence))),
    draw: () => frames.splice(0).forEach((frame) => frame()),
    shown: () => live.view.events.map(({ sequence }) => sequence),
    notified: () => notified,
  };
}

describe('LiveEvents', () => {
  it('shows what arrived in a frame at once, newest first, and no more than its limit', () => {
    const { add, draw, shown, notified } = liveOf(3);
    add(1, 2);
    expect(shown()).toEqual([]);
    draw();
    expect([shown(), notified()]).toEqual([[2, 1], 1]);
    add(3, 4);
    draw();
    expect([shown(), notified()]).toEqual([[4, 3, 2], 2]);
    add(5, 6, 7, 8);
    draw();
    expect(shown()).toEqual([8, 7, 6]);
  });

  it('stays as it is in a pause, counts what arrives, and shows the newest of it afterwards', () => {
    const { live, add, draw, shown } = liveOf(3);
    add(1);
    draw();
    live.pause(true);
    add(2, 3, 4, 5);
    draw();
    expect([shown(), live.view.waiting]).toEqual([[1], 4]);
    live.pause(false);
    draw();
    expect([shown(), live.view.waiting]).toEqual([[5, 4, 3], 0]);
  });

  it('forgets everything when it is cleared', () => {
    const { live, add, draw, shown } = liveOf(3);
    add(1);
    draw();
    add(2);
    live.clear();
    draw();
    expect(shown()).toEqual([]);
    add(3);
    draw();
    expect(shown()).toEqual([3]);
  });
});
