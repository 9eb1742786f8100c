import { FleetJourney } from './harness/fleet-journey.js';
import type { WiredWorker } from './harness/fleet.js';
import { NOTHING_BROKEN } from './harness/traffic.js';

/** What SIGTERM may take. */
const DRAIN_WITHIN_MS = 25_000;

describe('a fleet of session workers, under traffic both ways', () => {
  let journey: FleetJourney;
  let first: WiredWorker;
  let second: WiredWorker;

  beforeAll(async () => {
    journey = await FleetJourney.begin();
    [first, second] = journey.workers;
  }, 180_000);
  afterAll(() => journey.end(), 60_000);

  afterEach(async () => {
    const { now, linked } = await journey.devices();
    expect(now).toEqual(linked); // nobody had to scan anew
  });

  it('takes a third worker in and lets it go again: no call fails, nothing is lost or said twice', async () => {
    const traffic = journey.traffic();
    await traffic.flows();
    const third = await journey.fleet.join();
    await journey.fleet.untilSpread([first, second, third]);
    await traffic.flows();
    const startedMs = Date.now();
    await journey.running.stack.killWorker(third.pid, 'SIGTERM');
    expect(Date.now() - startedMs).toBeLessThan(DRAIN_WITHIN_MS);
    await journey.fleet.untilSpread([first, second]);
    await traffic.flows();
    await traffic.stop();
    expect(await traffic.broken()).toEqual(NOTHING_BROKEN);
    expect(traffic.sends.filter(({ status }) => status !== 200)).toEqual([]);
    expect(await journey.overlaps()).toBe(0);
  }, 120_000);

  it('drains a worker on SIGTERM: its sessions close and open elsewhere, every command is answered once', async () => {
    const traffic = journey.traffic();
    await traffic.flows();
    const moved = (await journey.channelsOf(second)).map(({ phone }) => phone.phone);
    expect(moved).toHaveLength(3);
    const from = (await journey.running.network.connections()).log.length;
    await journey.running.stack.killWorker(second.pid, 'SIGTERM');
    await journey.fleet.untilSpread([first]);
    await traffic.flows();
    const log = (await journey.running.network.connections()).log.slice(from);
    for (const phone of moved) {
      expect(log.filter((entry) => entry.phone === phone).map(({ event }) => event)).toEqual(['close', 'open']);
    }
    second = await journey.fleet.join();
    await journey.fleet.untilSpread([first, second]);
    await traffic.flows();
    await traffic.stop();
    expect(await traffic.broken()).toEqual(NOTHING_BROKEN);
    expect(traffic.sends.filter(({ status }) => status !== 200)).toEqual([]);
    expect(await journey.overlaps()).toBe(0);
  }, 120_000);

  it('outlives a pause of a worker beyond its leases: the worker comes back as nobody, and joins again', async () => {
    const { fleet } = journey;
    const traffic = journey.traffic();
    await traffic.flows();
    const paused = await journey.channelsOf(second);
    const turns = await journey.turns(paused);
    const overlaps = await journey.overlaps();
    process.kill(second.pid, 'SIGSTOP');
    try {
      await fleet.untilSpread([first]);
      await traffic.flows();
      // A process that is paused cannot close its sockets: the network replaces each of them, once.
      expect((await journey.overlaps()) - overlaps).toBe(paused.length);
    } finally {
      process.kill(second.pid, 'SIGCONT');
    }
    await journey.untilLost(second, turns);
    await fleet.untilSpread([first, second]);
    await traffic.flows();
    await traffic.stop();
    expect(await traffic.broken()).toEqual(NOTHING_BROKEN);
    expect((await journey.overlaps()) - overlaps).toBe(paused.length);
  }, 120_000);
});
