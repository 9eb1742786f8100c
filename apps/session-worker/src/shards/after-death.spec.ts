import { afterDeath, type AfterDeathSteps } from './after-death.js';

/** A worker that dies after some pauses, and whose shards are free once they are freed. */
function setup({ diesAfterPauses, free }: { diesAfterPauses: number; free?: () => Promise<number[]> }) {
  const steps: string[] = [];
  const owned = [3, 5];
  let pauses = 0;
  const given: AfterDeathSteps = {
    isDead: () => pauses >= diesAfterPauses,
    free: () => {
      steps.push(`freed after ${pauses} pauses`);
      return free?.() ?? Promise.resolve(owned.splice(0));
    },
    pause: () => Promise.resolve((pauses += 1)),
    leaseTtlMs: 1_000,
    onFreed: (shards) => steps.push(`noted ${shards.join()}`),
  };
  return { given, steps, owned };
}

describe('the process beside a worker, when its pipe has closed', () => {
  it('frees nothing before the worker is dead for certain and its sockets are closed', async () => {
    const { given, steps } = setup({ diesAfterPauses: 7 });
    expect(await afterDeath(given)).toBe(true);
    expect(steps[0]).toBe('freed after 8 pauses');
  });

  it('frees nothing of a worker that lives, and gives up when its leases would have ended', async () => {
    const { given, steps } = setup({ diesAfterPauses: Infinity });
    expect(await afterDeath(given)).toBe(false);
    expect(steps).toEqual([]);
  });

  it('frees once more what a statement of the dead worker took after the first time', async () => {
    const { given, steps, owned } = setup({ diesAfterPauses: 0 });
    const late: AfterDeathSteps = {
      ...given,
      onFreed: (shards) => {
        given.onFreed(shards);
        if (shards.length === 2) owned.push(7);
      },
    };
    await afterDeath(late);
    expect(steps).toEqual(['freed after 1 pauses', 'noted 3,5', 'freed after 2 pauses', 'noted 7']);
  });

  it('passes on that the shards could not be freed', async () => {
    const { given } = setup({ diesAfterPauses: 0, free: () => Promise.reject(new Error('away')) });
    await expect(afterDeath(given)).rejects.toThrow('away');
  });
});
