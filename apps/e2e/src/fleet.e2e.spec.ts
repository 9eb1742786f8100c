import { eventually } from './harness/eventually.js';
import { FleetJourney } from './harness/fleet-journey.js';
import type { ProxiedWorker } from './harness/fleet.js';
import type { LinkedChannel } from './harness/running-stack.js';
import { NOTHING_BROKEN } from './harness/traffic.js';
import type { WebhookCall } from './harness/webhook-receiver.js';

/** What SIGTERM may take. */
const DRAIN_WITHIN_MS = 25_000;

/** A dead connection is detected after twice this and 5 s. */
const QUICK_ALIVE = { KEEP_ALIVE_MS: '500', ACK_WAIT_MS: '5000' };

describe('a fleet of session workers, under traffic both ways', () => {
  let journey: FleetJourney;
  let first: ProxiedWorker;
  let second: ProxiedWorker;

  beforeAll(async () => {
    journey = await FleetJourney.begin(QUICK_ALIVE);
    [first, second] = journey.workers;
  }, 180_000);
  afterAll(() => journey.end(), 60_000);

  /** Before the journey: one that pauses a worker leaves some. */
  let overlaps: number;

  beforeEach(async () => {
    await journey.fleet.untilSpread([first, second]);
    overlaps = await journey.overlaps();
  }, 60_000);
  afterEach(async () => {
    await journey.running.network.removeFaults();
    const { now, linked } = await journey.devices();
    expect(now).toEqual(linked); // nobody had to scan again
  });

  /** Why the channel's sockets closed by themselves, as the workers log it. */
  const closesOf = async (channel: LinkedChannel | undefined): Promise<string[]> => {
    const closes = await journey.running.workerLog<{ channelId: string; reason: string }>('socket closed');
    return closes.flatMap(({ channelId, reason }) => (channelId === channel?.id ? [reason] : []));
  };

  it('keeps the trouble of one number to itself: a silent connection, unreadable messages, a ban', async () => {
    const { network } = journey.running;
    const banned = await journey.link('banned');
    const settings = { webhooks: [{ url: journey.hook.url, events: [{ type: 'channel', method: 'post' }] }] };
    await banned.client.request('PATCH', '/settings', { body: settings });
    const [troubled, ...others] = journey.channels;
    const phone = troubled?.phone.phone;
    const traffic = journey.traffic();
    await traffic.flows();
    await network.call('POST', '/faults', { kind: 'corrupt-message', phone, count: 3 });
    const { id: silence } = await network.addFault({ kind: 'silence', phone });
    await network.addFault({ kind: 'ban', phone: banned.phone.phone });
    const healthOf = ({ body }: WebhookCall): unknown =>
      body['health'] && body.channel_id === banned.id && body['health'];
    await journey.hook.waitFor('the ban', (call) => JSON.stringify(healthOf(call) ?? '').includes('"text":"error"'));
    await eventually(async () => (await closesOf(troubled)).includes('connection_lost'), {
      what: 'the silent connection is detected',
    });
    await traffic.flows(others);
    await network.removeFault(silence);
    await traffic.flows();
    await traffic.stop();
    expect(await traffic.broken()).toEqual(NOTHING_BROKEN);
    const failed = traffic.sends.filter(({ channelId, status }) => channelId !== troubled?.id && status !== 200);
    expect(failed).toEqual([]);
    // The first belongs to its link. After the ban it was not tried again.
    expect(await closesOf(banned)).toEqual(['restart_required', 'locked']);
    expect(await journey.overlaps()).toBe(overlaps);
  }, 120_000);

  it('accepts a third worker and lets it leave again: no call fails, nothing is lost or sent twice', async () => {
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
    expect(await journey.overlaps()).toBe(overlaps);
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
    expect(await journey.overlaps()).toBe(overlaps);
  }, 120_000);

  it('outlives a pause of a worker beyond its leases: it comes back without shards, writes nothing, and joins again', async () => {
    const { running, fleet, friend } = journey;
    const traffic = journey.traffic();
    await traffic.flows();
    const paused = await journey.channelsOf(second);
    const turns = await journey.turns(paused);
    const { id: fault } = await running.network.addFault({ kind: 'hold-acks', phone: paused[0]?.phone.phone });
    const underWay = paused[0]?.client.post('/messages/text', { to: friend.phone, body: 'under way' });
    await friend.waitFor({ text: 'under way' });
    process.kill(second.pid, 'SIGSTOP');
    let written: string[];
    try {
      await running.network.removeFault(fault); // the acknowledgement waits for the worker that sleeps
      await fleet.untilSpread([first]);
      await traffic.flows();
      // A process that is paused cannot close its sockets: the network replaces each of them, once.
      expect((await journey.overlaps()) - overlaps).toBe(paused.length);
      written = await journey.rowsOf(turns);
    } finally {
      process.kill(second.pid, 'SIGCONT');
    }
    await journey.untilLost(second, turns);
    await fleet.untilSpread([first, second]);
    expect(written).toEqual(expect.arrayContaining(await journey.rowsOf(turns)));
    expect((await underWay)?.status).toBe(502);
    await traffic.flows();
    await traffic.stop();
    expect(await traffic.broken()).toEqual(NOTHING_BROKEN);
    expect((await friend.messages()).filter(({ text }) => text === 'under way')).toHaveLength(1);
    expect((await journey.overlaps()) - overlaps).toBe(paused.length);
  }, 120_000);
});
