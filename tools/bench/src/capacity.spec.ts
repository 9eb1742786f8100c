import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { capacityTable } from './capacity-bench.js';
import { capacityInput, capacityOf } from './capacity.js';

const infra = join(import.meta.dirname, '../../../infra');
const figures = readFileSync(join(infra, 'capacity.json'), 'utf8');
const input = capacityInput.parse(JSON.parse(figures));

describe('what a region needs', () => {
  it('is on its page as the figures give it', () => {
    const page = readFileSync(join(infra, 'capacity.md'), 'utf8');
    expect(/```\n([^`]*)\n```/.exec(page)?.[1]?.split('\n')).toEqual(capacityTable(figures));
  });

  it('grows with numbers that sleep by rows, objects and wakes alone: no pod is added for one that is never woken', () => {
    const load = { ...input.load, awakeShare: 0, sendsADay: 1e-9, receivedADay: 1e-9, listeningShare: 0 };
    const sleeping = { ...input, load: { ...load, wakesADay: { ...load.wakesADay, quiet: 1e-9 } } };
    const [few, many] = [1_000, 1_000_000].map((numbers) => capacityOf(numbers, sleeping));
    expect(many?.pods).toEqual(few?.pods);
    expect(many?.dollarsAMonth.pods).toBe(few?.dollarsAMonth.pods);
    expect(many?.objectsGb).toBeCloseTo((few?.objectsGb ?? 0) * 1_000, 5);
  });

  it('counts processor time of sends, receiving and wakes, and rents so much that the planned part is busy', () => {
    const { cores, sends, received, wakes, postgresCores } = capacityOf(1_000_000, input);
    const { sendMs, receiveMs, wakeMs } = input.measured;
    const busyMs = sends * sendMs.postgres + received * receiveMs.postgres + wakes * wakeMs.postgres;
    expect(cores.postgres).toBeCloseTo(busyMs / 1_000, 9);
    expect(cores.postgres / postgresCores).toBeLessThanOrEqual(input.limits.usedShare);
    expect(cores.postgres / (postgresCores - 1)).toBeGreaterThan(input.limits.usedShare);
  });

  it('has at least two pods of each kind, and worker pods by memory where awake numbers need more of it than of cores', () => {
    expect(capacityOf(1, input).pods).toEqual({ worker: 2, edge: 2, dispatcher: 2 });
    const load = { ...input.load, awakeShare: 1, sendsADay: 1e-9, receivedADay: 1e-9 };
    const { limits, measured } = input;
    const { pods } = capacityOf(1_000_000, { ...input, load });
    const eachPodMb = limits.podMb * limits.usedShare - measured.workerMb;
    expect(pods.worker).toBe(Math.ceil((1_000_000 * measured.liveNumberMb) / eachPodMb));
  });

  it('names the fullest part first', () => {
    const { full } = capacityOf(1_000_000, input);
    expect(full.map(({ share }) => share)).toEqual([...full.map(({ share }) => share)].sort((a, b) => b - a));
  });
});
