import {
  OPERATIONS,
  type FleetShard,
  type FleetWorker,
  type Operation,
  type OperationName,
} from '@dormouse/management-contract';
import { commandQueueName, openCommandWorker, type CommandReply } from '@dormouse/queues';
import { closeRedis, openRedis } from '@dormouse/redis';
import { OPERATOR_KEY, RunningControlPlane, SHARD_COUNT, type Answer } from '../test-control-plane.js';

jest.setTimeout(30_000);

const FLEET = '/api/v1/fleet';
const errorOf = ({ body }: Answer): Record<string, unknown> => body['error'] as Record<string, unknown>;

describe('fleet', () => {
  let plane: RunningControlPlane;
  let channels = 0;
  const sql = (text: string, values: unknown[] = []) => plane.regional.pool.query(text, values);

  beforeAll(async () => {
    plane = await RunningControlPlane.open();
  });
  afterAll(() => plane.close());
  beforeEach(async () => {
    await sql(
      `TRUNCATE channels, workers, shard_leases, wake_latencies, webhook_cursors, event_sequences, events, dead_letters`,
    );
    await sql('INSERT INTO shard_leases (shard) SELECT generate_series(0, $1::int - 1)', [SHARD_COUNT]);
    for (const id of ['a', 'b']) {
      await sql(`INSERT INTO workers (id, version, expires_at) VALUES ($1, '1.2.3', now() + interval '1 minute')`, [
        id,
      ]);
    }
  });

  /** Makes a request as the operator; a successful answer must have the shape of the contract. */
  const ask = async (
    name: OperationName,
    path: string,
    body?: unknown,
    key: string | undefined = OPERATOR_KEY,
  ): Promise<Answer> => {
    const { method, answer }: Operation = OPERATIONS[name];
    const verb = method.toUpperCase() as 'GET' | 'POST' | 'PUT' | 'DELETE';
    const given = await plane.call(key, verb, `${FLEET}${path}`, body === undefined ? {} : { body });
    if (given.status < 300) expect(answer?.parse(given.body)).toEqual(given.body);
    return given;
  };
  const own = (shard: number, owner: string) =>
    sql(
      `UPDATE shard_leases SET owner_id = $2, epoch = epoch + 1, expires_at = now() + interval '10 s' WHERE shard = $1`,
      [shard, owner],
    );
  const addChannel = async (facts: { state?: string; shard?: number; linked?: boolean } = {}): Promise<string> => {
    const id = `DORM-${String(++channels).padStart(5, '0')}`;
    const { state = 'open', shard = 0, linked = true } = facts;
    await sql(
      'INSERT INTO channels (id, account_id, name, shard, session_state, linked) VALUES ($1, $2, $1, $3, $4, $5)',
      [id, 'acc_spec', shard, state, linked],
    );
    return id;
  };

  describe('is for operators', () => {
    it('is 401 without a key and with an unknown one, 403 with an account key', async () => {
      const { accountKey } = await plane.newAccount();
      for (const [key, status] of [
        [undefined, 401],
        ['dmo_unknown', 401],
        [accountKey, 403],
      ] as const) {
        const answer = await plane.call(key, 'GET', FLEET);
        expect([answer.status, errorOf(answer)['code']]).toEqual([status, status]);
        expect(errorOf(answer)['details']).toEqual(expect.any(String));
        const act = await plane.call(key, 'PUT', `${FLEET}/sg/workers/a/drain`);
        expect(act.status).toBe(status);
      }
      expect((await sql('SELECT 1 FROM workers WHERE drained_at IS NOT NULL')).rowCount).toBe(0);
    });

    it('and an operator key is refused on routes of accounts', async () => {
      expect((await plane.call(OPERATOR_KEY, 'GET', '/api/v1/channels')).status).toBe(401);
    });

    it('logs every action with its operator, and never a key', async () => {
      await ask('drainFleetWorker', '/sg/workers/a/drain');
      const lines = plane.logged.join('');
      expect(lines).not.toContain(OPERATOR_KEY);
      const audited = plane.logged
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((line) => line['audit']);
      expect(audited.at(-1)).toMatchObject({
        operator: 'ada',
        action: 'worker.drain',
        region: 'sg',
        kind: 'worker',
        id: 'a',
      });
    });
  });

  describe('workers', () => {
    const worker = async (id: string): Promise<FleetWorker> =>
      (await ask('getFleetWorker', `/sg/workers/${id}`)).body as unknown as FleetWorker;

    it('are listed with their shards and whether they are alive', async () => {
      await own(0, 'a');
      await own(3, 'a');
      await sql(
        `UPDATE workers SET expires_at = now() - interval '1 s', heartbeat_at = now() - interval '11 s' WHERE id = 'b'`,
      );
      const { body } = await ask('listFleetWorkers', '/sg/workers');
      expect(body['workers']).toMatchObject([
        { id: 'a', version: '1.2.3', living: true, shards: [0, 3], state: 'taking' },
        { id: 'b', living: false, shards: [] },
      ]);
      expect((await worker('b')).heartbeat_age_s).toBeGreaterThan(10);
    });

    it('are drained: 202 while they hold shards, 200 once they hold none, the same when repeated', async () => {
      await own(1, 'a');
      expect(await ask('drainFleetWorker', '/sg/workers/a/drain')).toMatchObject({
        status: 202,
        body: { state: 'draining', shards: [1] },
      });
      const asked = (await worker('a')).drain_asked_at;
      await sql('UPDATE shard_leases SET owner_id = NULL, expires_at = NULL');
      const again = await ask('drainFleetWorker', '/sg/workers/a/drain');
      expect(again).toMatchObject({ status: 200, body: { state: 'drained', shards: [], drain_asked_at: asked } });
      const back = await ask('undrainFleetWorker', '/sg/workers/a/drain');
      expect([back.status, back.body['state'], back.body['drain_asked_at']]).toEqual([200, 'taking', undefined]);
    });

    it('that are unknown or dead cannot be drained: 404', async () => {
      await sql(`UPDATE workers SET expires_at = now() WHERE id = 'b'`);
      for (const id of ['b', 'nobody', "x'; --"]) {
        const answer = await ask('drainFleetWorker', `/sg/workers/${encodeURIComponent(id)}/drain`);
        expect([answer.status, errorOf(answer)['message']]).toEqual([404, 'worker not found']);
      }
    });
  });

  describe('shards', () => {
    it('are listed with owner, epoch, lease, sessions and queue', async () => {
      await own(2, 'b');
      await addChannel({ shard: 2 });
      await addChannel({ shard: 2, state: 'hibernated' });
      const { body } = await ask('listFleetShards', '/sg/shards');
      const shards = body['shards'] as FleetShard[];
      expect(shards.map(({ shard, state }) => [shard, state])).toEqual([
        [0, 'waiting'],
        [1, 'waiting'],
        [2, 'settled'],
        [3, 'waiting'],
      ]);
      expect(shards[2]).toMatchObject({ owner: 'b', epoch: 1, sessions: { open: 1, hibernated: 1, qr: 0 } });
      expect(shards[2]?.lease_left_s).toBeGreaterThan(5);
      expect(shards[2]?.commands).toEqual({ waiting: 0, running: 0, oldest_age_s: 0 });
    });

    it('are moved: 202 until their worker has them, 200 then, the same when repeated', async () => {
      await own(1, 'a');
      const place = () => ask('placeFleetShard', '/sg/shards/1/placement', { worker: 'b' });
      expect(await place()).toMatchObject({ status: 202, body: { owner: 'a', placed_on: 'b', state: 'moving' } });
      await own(1, 'b');
      expect(await place()).toMatchObject({ status: 200, body: { owner: 'b', placed_on: 'b', state: 'settled' } });
      const back = await ask('unplaceFleetShard', '/sg/shards/1/placement');
      expect([back.status, back.body['placed_on']]).toEqual([200, undefined]);
    });

    it('are moved only to a worker that takes shards, and only where there is such a shard', async () => {
      await ask('drainFleetWorker', '/sg/workers/b/drain');
      for (const worker of ['b', 'nobody']) {
        const answer = await ask('placeFleetShard', '/sg/shards/1/placement', { worker });
        expect([answer.status, errorOf(answer)['details']]).toEqual([
          400,
          expect.stringMatching(/^worker: must be a live worker/),
        ]);
      }
      const empty = await ask('placeFleetShard', '/sg/shards/1/placement', {});
      expect([empty.status, errorOf(empty)['details']]).toEqual([400, expect.stringMatching(/^worker: /)]);
      for (const shard of ['4', '99999', '-1', 'x']) {
        const answer = await ask('placeFleetShard', `/sg/shards/${shard}/placement`, { worker: 'a' });
        expect([answer.status, errorOf(answer)['message']]).toEqual([404, 'shard not found']);
      }
    });

    it('are in the state moving while their owner is drained', async () => {
      await own(0, 'a');
      await ask('drainFleetWorker', '/sg/workers/a/drain');
      expect((await ask('getFleetShard', '/sg/shards/0')).body).toMatchObject({ owner: 'a', state: 'moving' });
    });
  });

  describe('channels', () => {
    it('are listed by state, in pages that hold each once', async () => {
      const wanted = [];
      for (const shard of [3, 0, 2]) wanted.push(await addChannel({ shard, state: 'hibernated' }));
      await addChannel({ state: 'open' });
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const from: string = after === undefined ? '' : `&after=${encodeURIComponent(after)}`;
        const { body } = await ask('listFleetChannels', `/sg/channels?state=hibernated&count=2${from}`);
        expect(body['total']).toBe(3);
        seen.push(...(body['channels'] as { id: string }[]).map(({ id }) => id));
        after = body['next'] as string | undefined;
      } while (after !== undefined);
      expect(seen).toEqual([wanted[1], wanted[2], wanted[0]]);
    });

    it.each([
      ['', /^state: /],
      ['?state=asleep', /^state: must be one of closed, /],
      ['?state=open&count=0', /^count: must be between 1 and 500$/],
      ['?state=open&after=x', /^after: must be what `next`/],
    ])('cannot be listed with %j: 400 that names the field', async (query, details) => {
      const answer = await ask('listFleetChannels', `/sg/channels${query}`);
      expect([answer.status, errorOf(answer)['details']]).toEqual([400, expect.stringMatching(details)]);
    });

    /** Runs `work` with a worker that gives every command of shard 0 this answer. Returns the commands it received. */
    const withWorker = async (reply: (name: string) => Promise<CommandReply>, work: () => Promise<void>) => {
      const received: string[] = [];
      const worker = openCommandWorker({
        redisUrl: plane.redisUrl,
        shard: 0,
        concurrency: 1,
        handle: ({ name, channelId }) => {
          received.push(`${name} ${channelId}`);
          return reply(name);
        },
        onError: () => undefined,
      });
      await work().finally(() => worker.close());
      return received;
    };

    it('are put to sleep and woken by their worker, which gets no command for a state they are in already', async () => {
      const id = await addChannel();
      const become = async (state: string, result: object): Promise<CommandReply> => {
        await sql('UPDATE channels SET session_state = $2 WHERE id = $1', [id, state]);
        return { ok: true, result };
      };
      const commands = await withWorker(
        (name) =>
          name === 'channel.sleep' ? become('hibernated', { asleep: true }) : become('open', { success: true }),
        async () => {
          for (const [name, act, state] of [
            ['putFleetChannelToSleep', 'sleep', 'hibernated'],
            ['putFleetChannelToSleep', 'sleep', 'hibernated'],
            ['wakeFleetChannel', 'wake', 'open'],
            ['wakeFleetChannel', 'wake', 'open'],
          ] as const) {
            expect(await ask(name, `/sg/channels/${id}/${act}`)).toMatchObject({ status: 200, body: { id, state } });
          }
        },
      );
      expect(commands).toEqual([`channel.sleep ${id}`, `channel.wake ${id}`]);
    });

    it('that are in use stay awake: 503 with that reason', async () => {
      const id = await addChannel();
      await withWorker(
        () => Promise.resolve({ ok: true, result: { asleep: false } }),
        async () => {
          const answer = await ask('putFleetChannelToSleep', `/sg/channels/${id}/sleep`);
          expect([answer.status, errorOf(answer)['details']]).toEqual([503, 'the number stays awake: it is in use']);
          expect(answer.headers['retry-after']).toBe('2');
        },
      );
    });

    it('that are not linked cannot be woken: 403; of another region or unknown ones: 404', async () => {
      const id = await addChannel({ linked: false, state: 'closed' });
      expect((await ask('wakeFleetChannel', `/sg/channels/${id}/wake`)).status).toBe(403);
      expect((await ask('wakeFleetChannel', '/sg/channels/NO-SUCH/wake')).status).toBe(404);
      expect((await ask('getFleetChannel', '/sg/channels/NO-SUCH')).status).toBe(404);
    });
  });

  describe('figures', () => {
    it('count workers, shards, sessions, wakes, commands and events', async () => {
      await own(0, 'a');
      await ask('drainFleetWorker', '/sg/workers/b/drain');
      await addChannel();
      const late = await addChannel({ state: 'hibernated' });
      await sql(`UPDATE channels SET wake_at = now() - interval '90 s' WHERE id = $1`, [late]);
      await sql(`INSERT INTO wake_latencies VALUES (date_trunc('minute', now()), 'a', 100, 18, 99),
                 (date_trunc('minute', now()), 'b', 400, 2, 390), (now() - interval '16 minutes', 'b', 9000, 50, 9000)`);
      await sql(`INSERT INTO event_sequences VALUES ('C', 5)`);
      await sql(`INSERT INTO webhook_cursors (channel_id, webhook_id, position) VALUES ('C', 'x', 2), ('C', 'y', 5)`);
      await sql(`INSERT INTO events (channel_id, seq, id, type, method, payload, created_at)
                 VALUES ('C', 3, gen_random_uuid(), 'messages', 'post', '{}', now() - interval '40 s')`);
      const { body } = await ask('getFleetRegion', '/sg');
      expect(body).toMatchObject({
        region: 'sg',
        workers: { living: 2, draining: 1 },
        shards: { total: 4, without_owner: 3 },
        sessions: { open: 1, hibernated: 1, closed: 0 },
        sleeping: { count: 1, overdue: 1 },
        wakes: { window_s: 900, count: 20, p50_ms: 100, p95_ms: 390, max_ms: 390 },
        events: { backlog: 3, webhooks_behind: 1, dead_letters: 0 },
        commands: { waiting: 0, running: 0, oldest_age_s: 0 },
      });
      expect((body['sleeping'] as { most_overdue_s: number }).most_overdue_s).toBeGreaterThanOrEqual(90);
      expect((body['events'] as { oldest_age_s: number }).oldest_age_s).toBeGreaterThanOrEqual(40);
    });

    it('of a region that is away are marked as not available, and its own are 503 with Retry-After', async () => {
      const { body } = await ask('getFleet', '');
      expect(body['regions']).toMatchObject([
        { region: 'sg', available: true },
        { region: 'eu', available: false },
      ]);
      for (const path of ['', '/workers', '/shards', '/stuck', '/channels?state=open']) {
        const answer = await plane.call(OPERATOR_KEY, 'GET', `${FLEET}/eu${path}`);
        expect([path, answer.status, answer.headers['retry-after']]).toEqual([path, 503, '5']);
      }
      const act = await plane.call(OPERATOR_KEY, 'PUT', `${FLEET}/eu/workers/a/drain`);
      expect([act.status, errorOf(act)['details']]).toEqual([503, 'try again: repeating the request is safe']);
    });

    it('of an unknown region: 404 that names the known ones', async () => {
      const answer = await ask('getFleetRegion', '/usw');
      expect([answer.status, errorOf(answer)['details']]).toEqual([404, 'the regions of this installation are sg, eu']);
    });
  });

  describe('stuck things', () => {
    it('are none in a healthy region', async () => {
      for (let shard = 0; shard < SHARD_COUNT; shard += 1) await own(shard, 'a');
      await addChannel();
      const { body } = await ask('listStuck', '/sg/stuck');
      for (const [kind, found] of Object.entries(body)) expect([kind, found]).toEqual([kind, { total: 0, first: [] }]);
      expect(Object.keys(body)).toHaveLength(7);
    });

    /** Leaves a command in the queue that is not withdrawn at its deadline, as a caller does that was killed. */
    const leaveLateCommand = async (shard: number): Promise<void> => {
      const redis = openRedis({ url: plane.redisUrl, name: 'fleet-spec' });
      const queue = `bull:${commandQueueName(shard)}`;
      const startBy = Date.now() - 60_000;
      await redis.hset(`${queue}:1`, { name: 'channel.logout', timestamp: startBy, data: JSON.stringify({ startBy }) });
      await redis.lpush(`${queue}:wait`, '1');
      await closeRedis(redis);
    };

    it('are each found', async () => {
      for (const shard of [0, 1, 2]) await own(shard, 'a');
      const slow = await addChannel({ state: 'waking' });
      await addChannel({ state: 'waking' });
      const banned = await addChannel({ state: 'closed' });
      const lost = await addChannel({ state: 'closed' });
      const damaged = await addChannel({ state: 'open' });
      await sql(`UPDATE channels SET session_since = now() - interval '3 minutes' WHERE id = $1`, [slow]);
      await sql(`UPDATE channels SET session_reason = 'banned' WHERE id = $1`, [banned]);
      await sql(`UPDATE channels SET session_reason = 'state_unreadable' WHERE id = $1`, [lost]);
      await sql(`UPDATE channels SET snapshots = '[{"generation":7,"damaged":true},{"generation":6}]' WHERE id = $1`, [
        damaged,
      ]);
      await sql(`INSERT INTO event_sequences VALUES ('C', 5)`);
      await sql(
        `INSERT INTO webhook_cursors (channel_id, webhook_id, position, attempts, last_error) VALUES ('C', 'x', 2, 4, 'HTTP 500')`,
      );
      await sql(
        `INSERT INTO dead_letters (channel_id, webhook_id, seq, attempts) VALUES ('C', 'x', 1, 9), ('C', 'x', 2, 9)`,
      );
      await leaveLateCommand(3);
      const { body } = await ask('listStuck', '/sg/stuck');
      expect(body).toMatchObject({
        shards_without_owner: { total: 1, first: [{ shard: 3 }] },
        late_commands: { total: 1, first: [{ shard: 3, waiting: 1 }] },
        slow_channels: { total: 1, first: [{ id: slow, state: 'waking' }] },
        closed_channels: { total: 2 },
        damaged_snapshots: {
          total: 2,
          first: [
            { channel_id: lost, lost: true, generations: [] },
            { channel_id: damaged, lost: false, generations: [7] },
          ],
        },
        dead_letters: { total: 1, first: [{ channel_id: 'C', webhook: 'x', dead_letters: 2 }] },
        failing_webhooks: {
          total: 1,
          first: [{ channel_id: 'C', webhook: 'x', attempts: 4, backlog: 3, last_error: 'HTTP 500' }],
        },
      });
    });
  });
});
