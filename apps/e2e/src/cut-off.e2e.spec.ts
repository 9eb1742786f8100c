import { isDeepStrictEqual } from 'node:util';
import { eventually } from './harness/eventually.js';
import { FleetJourney } from './harness/fleet-journey.js';
import type { ProxiedWorker } from './harness/fleet.js';
import type { LinkedChannel } from './harness/running-stack.js';
import { NOTHING_BROKEN } from './harness/traffic.js';

/** Channels without a webhook sleep soon; those of the journey have one and stay awake. */
const QUICK_SLEEP = { SLEEP_CHECK_EVERY_MS: '200', SLEEP_QUIET_IDLE_AFTER_MS: '2000' };

describe('session workers that cannot reach a store, under traffic both ways', () => {
  let journey: FleetJourney;
  let workers: [ProxiedWorker, ProxiedWorker];

  beforeAll(async () => {
    journey = await FleetJourney.begin(QUICK_SLEEP);
    workers = journey.workers;
  }, 180_000);
  afterAll(() => journey.end(), 60_000);

  // A store that a failed journey has left cut off.
  beforeEach(async () => {
    for (const { postgres, redis, objects } of workers) for (const one of [postgres, redis, objects]) one.restore();
    journey.redisOfOthers.restore();
    await journey.fleet.untilSpread(workers);
  }, 60_000);
  afterEach(async () => {
    const { now, linked } = await journey.devices();
    expect(now).toEqual(linked); // nobody had to scan again
    expect(await journey.overlaps()).toBe(0);
  });

  const stateOf = async ({ id }: LinkedChannel): Promise<{ state: string; snapshots: string; rows: number }> => {
    const { rows } = await journey.database.query<{ state: string; snapshots: string; rows: number }>(
      `SELECT session_state AS state, snapshots::text,
         (SELECT count(*) FROM auth_creds a WHERE a.channel_id = c.id)::int AS rows FROM channels c WHERE id = $1`,
      [id],
    );
    if (!rows[0]) throw new Error('no channel');
    return rows[0];
  };
  /** States are stored in the background. */
  const untilIs = (channel: LinkedChannel, expected: object) =>
    eventually(async () => isDeepStrictEqual(await stateOf(channel), expected), { what: JSON.stringify(expected) });
  const untilAsleep = (channel: LinkedChannel) =>
    eventually(async () => (await stateOf(channel)).state === 'hibernated', { what: 'it sleeps', withinMs: 30_000 });

  it.each<[string, 'hold' | 'refuse']>([
    ['does not answer', 'hold'],
    ['refuses connections', 'refuse'],
  ])(
    'PostgreSQL %s: its sockets are closed before its leases end, another takes over, it writes nothing',
    async (_what, way) => {
      const [stays, leaves] = workers;
      const traffic = journey.traffic();
      await traffic.flows();
      const moved = await journey.channelsOf(leaves);
      expect(moved).toHaveLength(3);
      const turns = await journey.turns(moved);
      const from = (await journey.running.network.connections()).log.length;
      leaves.postgres[way]();
      const { rows } = await journey.database.query<{ ends: Date }>(
        'SELECT max(expires_at) AS ends FROM shard_leases WHERE shard = ANY($1)',
        [(await journey.fleet.shards()).get(leaves.name)],
      );
      await journey.fleet.untilSpread([stays]);
      await traffic.flows();
      const written = await journey.rowsOf(turns);
      const log = (await journey.running.network.connections()).log.slice(from);
      for (const { phone } of moved) {
        const own = log.filter((entry) => entry.phone === phone.phone);
        expect(own.map(({ event }) => event)).toEqual(['close', 'open']);
        expect(Date.parse(own[0]?.at ?? '')).toBeLessThan(rows[0]?.ends.getTime() ?? 0);
      }
      leaves.postgres.restore();
      await journey.fleet.untilSpread(workers);
      expect(written).toEqual(expect.arrayContaining(await journey.rowsOf(turns)));
      await traffic.flows();
      await traffic.stop();
      expect(await traffic.broken()).toEqual(NOTHING_BROKEN);
    },
    120_000,
  );

  it.each<[string, 'hold' | 'refuse', number]>([
    // What was written to a silent connection may have arrived; what could not be written has not.
    ['does not answer', 'hold', 502],
    ['refuses connections', 'refuse', 503],
  ])(
    'Redis %s: calls fail with the truth, sessions stay open, what is received is delivered, all goes on',
    async (_what, way, answer) => {
      const ways = [journey.redisOfOthers, ...workers.map(({ redis }) => redis)];
      const traffic = journey.traffic();
      await traffic.flows();
      const from = (await journey.running.network.connections()).log.length;
      const cutAtMs = Date.now();
      for (const one of ways) one[way]();
      const refused = await eventually(
        () => Promise.resolve(traffic.sends.find(({ beganAtMs, status }) => beganAtMs > cutAtMs && status === answer)),
        { what: 'a call is refused' },
      );
      if (answer === 503) expect(Number(refused.retryAfter)).toBeGreaterThan(0);
      const meanwhile = `sent while Redis ${_what}`;
      await journey.friend.send(journey.channels[0]?.phone.phone ?? '', meanwhile);
      await journey.hook.waitFor(meanwhile, ({ body }) => JSON.stringify(body).includes(meanwhile));
      for (const one of ways) one.restore();
      await traffic.flows();
      await traffic.stop();
      expect(await traffic.broken()).toEqual(NOTHING_BROKEN);
      // Channels of the other tests have no webhook, and may fall asleep meanwhile.
      const phones = journey.channels.map(({ phone }) => phone.phone);
      const log = (await journey.running.network.connections()).log.slice(from);
      expect(log.filter(({ phone }) => phones.includes(phone ?? ''))).toEqual([]);
    },
    120_000,
  );

  it('object storage: nobody falls asleep, nobody wakes, callers get the reason, nothing is overwritten', async () => {
    const { running, friend } = journey;
    const asleep = await running.createLinkedChannel('asleep');
    const awake = await running.createLinkedChannel('awake');
    const send = (channel: LinkedChannel, body: string) =>
      channel.client.post<{ error?: { details?: string } }>('/messages/text', { to: friend.phone, body });
    await untilAsleep(asleep);
    await untilAsleep(awake);
    expect((await send(awake, 'good morning')).status).toBe(200);
    const before = await stateOf(asleep);
    for (const { objects } of workers) objects.refuse();

    const refused = await send(asleep, 'while the storage is away');
    expect(refused).toMatchObject({ status: 503, body: { error: { details: expect.stringContaining('waking') } } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await untilIs(asleep, before);
    const log = await eventually(
      async () => {
        const lines = await running.workerLog<{ channelId: string }>('session fault');
        return lines.some(({ channelId }) => channelId === awake.id);
      },
      { what: 'a session cannot be put to sleep', withinMs: 40_000 },
    );
    expect(log).toBe(true);
    expect((await send(awake, 'still awake')).status).toBe(200);
    await untilIs(awake, { ...(await stateOf(awake)), state: 'open', rows: 1 });

    for (const { objects } of workers) objects.restore();
    expect((await send(asleep, 'when it is back')).status).toBe(200);
    for (const text of ['good morning', 'still awake', 'when it is back']) await friend.waitFor({ text });
    expect((await friend.messages()).filter(({ text }) => text === 'while the storage is away')).toEqual([]);
  }, 120_000);
});
