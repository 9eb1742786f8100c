import type { World } from './world.js';

/** Moves clocks that are to advance to where they should be, doing all that falls due on the way. */
export function finishAdvances(world: World, runDue: (clock: string, by: number) => void): void {
  for (const { id, target } of world.store.testClocks.filter(({ status }) => status === 'advancing')) {
    if (target === null) continue;
    runDue(id, target);
    world.store.transact(() => {
      const ready = world.store.testClocks.change(id, { frozen_time: target, status: 'ready', target: null });
      world.emit('test_helpers.test_clock.ready', ready);
    });
  }
}
