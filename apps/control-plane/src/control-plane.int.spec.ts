import { ChannelDirectory } from '@dormouse/channel-directory';
import { hashToken, readToken } from '@dormouse/channel-token';
import { OPERATIONS } from '@dormouse/management-contract';
import { openCommandWorker } from '@dormouse/queues';
import type { Cause } from './accounts/cause.js';
import { ChannelEntries } from './channels/channel-entries.js';
import { RunningControlPlane, SHARD_COUNT, type Answer } from './test-control-plane.js';

jest.setTimeout(30_000);

interface Channel {
  id: string;
  name: string;
  region: string;
  created_at: number;
}

const channelOf = ({ body }: Answer): Channel => body['channel'] as Channel;
const tokenOf = ({ body }: Answer): string => String(body['token']);
const errorOf = ({ body }: Answer): Record<string, unknown> => body['error'] as Record<string, unknown>;

const NO_LIMITS = { channelsPerAccount: 1_000, channelsPerHalfHour: 0 };
const CAUSE: Cause = { actor: { kind: 'system', id: 'spec' } };

describe('management API', () => {
  let plane: RunningControlPlane;
  let directory: ChannelDirectory;
  let key: string;
  let accountId: string;
  const create = async (body: object = { name: 'Shop' }): Promise<Answer> => {
    const answer = await plane.call(key, 'POST', '/api/v1/channels', { body });
    OPERATIONS.createChannel.answer.parse(answer.body);
    return answer;
  };

  beforeAll(async () => {
    plane = await RunningControlPlane.open();
    directory = new ChannelDirectory({ database: plane.regional, cacheMs: 0 });
  });
  afterAll(() => plane.close());
  beforeEach(async () => {
    ({ accountKey: key, accountId } = await plane.newAccount());
  });

  describe('account key', () => {
    it.each([
      ['none', undefined],
      ['an unknown one', 'dmk_unknown'],
      ['one with something after it', 'dmk_a b'],
    ])('refuses %s with the envelope', async (_title, presented) => {
      const answer = await plane.call(presented, 'GET', '/api/v1/channels');
      expect(answer.status).toBe(401);
      expect(answer.headers['x-request-id']).toMatch(/^[\w-]{36}$/);
      expect(answer.body).toEqual({
        error: {
          code: 401,
          message: 'account key missing or invalid',
          details: expect.any(String) as string,
          href: 'https://docs.test/errors#unauthorized',
          support: 'help@test',
        },
      });
    });

    it('is refused at once when it is revoked, while another key of the account still works', async () => {
      const body = { name: 'second', scopes: ['account:read'] };
      const second = OPERATIONS.createKey.answer.parse(
        (await plane.call(key, 'POST', '/api/v1/account/keys', { body })).body,
      );
      expect((await plane.call(second.secret, 'GET', '/api/v1/account')).body).toMatchObject({ id: accountId });
      expect((await plane.call(key, 'DELETE', `/api/v1/account/keys/${second.key.id}`)).status).toBe(204);
      expect((await plane.call(second.secret, 'GET', '/api/v1/account')).status).toBe(401);
      expect((await plane.call(key, 'GET', '/api/v1/account')).status).toBe(200);
    });

    it('is stored as a hash and never logged', async () => {
      const { rows } = await plane.database.pool.query('SELECT * FROM account_keys WHERE account_id = $1', [accountId]);
      expect(JSON.stringify(rows)).not.toContain(key);
      expect(plane.logged.join('')).not.toContain(key);
    });
  });

  describe('POST /channels', () => {
    it('creates a channel that is not linked, with a token of its region', async () => {
      const answer = await create({ name: ' Shop ', region: 'sg', colour: 'ignored' });
      expect(answer.status).toBe(201);
      expect(channelOf(answer)).toEqual({
        id: expect.stringMatching(/^[A-Z]+-[0-9A-Z]{5}$/) as string,
        name: 'Shop',
        region: 'sg',
        created_at: expect.any(Number) as number,
        status: { code: 0, text: 'not_linked' },
        state: 'not_linked',
        since: expect.any(Number) as number,
        attention: { what: 'link', since: expect.any(Number) as number },
        standing: 'good',
      });
      expect(readToken(tokenOf(answer))).toEqual({ region: 'sg' });
      const record = await directory.byTokenHash(hashToken(tokenOf(answer)));
      expect(record).toMatchObject({ id: channelOf(answer).id, accountId, name: 'Shop' });
    });

    it('goes to the first region when none is named', async () => {
      expect(channelOf(await create()).region).toBe('sg');
    });

    it('spreads channels over the shards', async () => {
      const ids = (await Promise.all(Array.from({ length: 8 }, () => create()))).map((answer) => channelOf(answer).id);
      const records = await Promise.all(ids.map((id) => directory.byId(id)));
      records.forEach((record) => expect(record?.shard).toBeLessThan(SHARD_COUNT));
      expect(new Set(records.map((record) => record?.shard)).size).toBeGreaterThan(1);
    });

    it.each([
      ['no body', undefined, 'name: required'],
      ['a name that is no text', { name: 7 }, 'name: must be text'],
      ['a region that is not served here', { name: 'Shop', region: 'usw' }, 'region: must be one of sg, eu'],
      ['a list', [], 'body: must be a JSON object'],
      ['broken JSON', '{', 'body: not valid JSON'],
    ])('refuses %s', async (_title, body, details) => {
      const answer = await plane.call(key, 'POST', '/api/v1/channels', { body });
      expect([answer.status, errorOf(answer)['details']]).toEqual([400, details]);
    });

    it('refuses form data', async () => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const answer = await plane.call(key, 'POST', '/api/v1/channels', { body: 'name=Shop', headers });
      expect([answer.status, errorOf(answer)['details']]).toEqual([400, 'body: JSON expected']);
    });

    it('is 503 while the region is away, and leaves no channel once it is back', async () => {
      const answer = await plane.call(key, 'POST', '/api/v1/channels', { body: { name: 'Shop', region: 'eu' } });
      expect(answer.status).toBe(503);
      expect(answer.headers['retry-after']).toBe('5');
      expect(errorOf(answer)).toMatchObject({ message: 'region does not answer', details: 'nothing was created' });
      expect((await plane.call(key, 'GET', '/api/v1/channels')).body).toMatchObject({ channels: [], total: 0 });
      const { rows } = await plane.database.pool.query(
        'SELECT deleted_at IS NOT NULL AS deleted, unsettled_since IS NOT NULL AS unsettled FROM channels WHERE account_id = $1',
        [accountId],
      );
      expect(rows).toEqual([{ deleted: true, unsettled: true }]);
    });

    it('interrupted between the databases: the channel is not shown, and is deleted in both', async () => {
      const entries = new ChannelEntries(plane.database);
      const { id } = await entries.begin({ accountId, region: 'sg', name: 'Half' }, NO_LIMITS);
      await directory.create({ id, accountId, name: 'Half', tokenHash: hashToken('half'), shard: 0 });
      expect((await plane.call(key, 'GET', '/api/v1/channels')).body).toMatchObject({ total: 0 });
      expect((await plane.call(key, 'GET', `/api/v1/channels/${id}`)).status).toBe(404);
      await plane.settleNow();
      expect(await directory.byId(id)).toMatchObject({ deleted: true });
      expect(await entries.settleCreation(id, CAUSE)).toBe(false);
      const left = await entries.leftUnsettled('sg', -1_000, 10);
      expect(left.map((entry) => entry.id)).not.toContain(id);
    });

    it('tries another id when one is in use', async () => {
      const taken = channelOf(await create()).id;
      const ids = [taken, taken, 'FRESH-22222'];
      const entries = new ChannelEntries(plane.database, () => ids.shift() ?? '');
      expect((await entries.begin({ accountId, region: 'sg', name: 'x' }, NO_LIMITS)).id).toBe('FRESH-22222');
    });
  });

  describe('GET /channels', () => {
    it("lists the account's own, newest first, page by page", async () => {
      const names = ['one', 'two', 'three'];
      for (const name of names) await create({ name });
      const { accountKey: stranger } = await plane.newAccount();
      const first = await plane.call(key, 'GET', '/api/v1/channels?count=2');
      const second = await plane.call(key, 'GET', '/api/v1/channels/?count=2&offset=2&unknown=1');
      const namesOf = (answer: Answer) => OPERATIONS.listChannels.answer.parse(answer.body).channels.map((c) => c.name);
      expect([namesOf(first), namesOf(second)]).toEqual([['three', 'two'], ['one']]);
      expect(first.body).toMatchObject({ count: 2, total: 3, offset: 0 });
      expect((await plane.call(stranger, 'GET', '/api/v1/channels')).body).toMatchObject({ channels: [], total: 0 });
    });

    it('names the parameter that is wrong', async () => {
      const answer = await plane.call(key, 'GET', '/api/v1/channels?count=501');
      expect([answer.status, errorOf(answer)['details']]).toEqual([400, 'count: must be between 1 and 500']);
    });
  });

  describe('GET /channels/{id}', () => {
    it('has the present status of the session', async () => {
      const { id } = channelOf(await create());
      await plane.regional.pool.query(
        "UPDATE channels SET session_state = 'open', linked = true, phone = '15550001111' WHERE id = $1",
        [id],
      );
      const answer = await plane.call(key, 'GET', `/api/v1/channels/${id}`);
      expect(OPERATIONS.getChannel.answer.parse(answer.body)).toMatchObject({
        id,
        status: { code: 4, text: 'connected' },
        phone: '15550001111',
      });
    });

    it('answers 200 with the status unknown while the region is away', async () => {
      const entries = new ChannelEntries(plane.database);
      const { id } = await entries.begin({ accountId, region: 'eu', name: 'Far' }, NO_LIMITS);
      await entries.settleCreation(id, CAUSE);
      const answer = await plane.call(key, 'GET', `/api/v1/channels/${id}`);
      expect(answer.status).toBe(200);
      expect(OPERATIONS.getChannel.answer.parse(answer.body)).toMatchObject({ id, status: { text: 'unknown' } });
    });
  });

  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/token'],
  ] as const)('%s /channels/{id}%s is 404 for a channel of another account and for none', async (method, suffix) => {
    const { id } = channelOf(await create());
    const { accountKey: stranger } = await plane.newAccount();
    for (const [who, which] of [
      [stranger, id],
      [key, 'NONE-22222'],
    ] as const) {
      const answer = await plane.call(who, method, `/api/v1/channels/${which}${suffix}`);
      expect([answer.status, errorOf(answer)['message']]).toEqual([404, 'channel not found']);
    }
    expect((await plane.call(key, 'GET', `/api/v1/channels/${id}`)).status).toBe(200);
  });

  describe('POST /channels/{id}/token', () => {
    it('replaces the token: the old one is refused, the new one works', async () => {
      const created = await create();
      const { id } = channelOf(created);
      const answer = await plane.call(key, 'POST', `/api/v1/channels/${id}/token`);
      expect(answer.status).toBe(200);
      OPERATIONS.rotateToken.answer.parse(answer.body);
      expect(await directory.byTokenHash(hashToken(tokenOf(created)))).toBeUndefined();
      expect((await directory.byTokenHash(hashToken(tokenOf(answer))))?.id).toBe(id);
    });

    it('is 202 while the region is away: the token is stored, and works once the region is back', async () => {
      const { id } = channelOf(await create());
      await plane.database.pool.query("UPDATE channels SET region = 'eu' WHERE id = $1", [id]);
      const answer = await plane.call(key, 'POST', `/api/v1/channels/${id}/token`);
      const { takes_effect: effect, channel } = OPERATIONS.rotateToken.answer.parse(answer.body);
      expect([answer.status, effect, channel.state]).toEqual([202, 'when_the_region_answers', 'unknown']);
      await plane.database.pool.query("UPDATE channels SET region = 'sg' WHERE id = $1", [id]);
      await plane.settleNow();
      expect((await directory.byTokenHash(hashToken(tokenOf(answer))))?.id).toBe(id);
    });
  });

  describe('POST /channels/{id}/sleep', () => {
    it('sets when the number sleeps, shows it with the channel, and removes it again', async () => {
      const { id } = channelOf(await create());
      const path = `/api/v1/channels/${id}`;
      const set = await plane.call(key, 'POST', `${path}/sleep`, { body: { idle_after_s: 0, drain_every_s: 60 } });
      expect(OPERATIONS.setSleep.answer.parse(set.body).sleep).toEqual({ idle_after_s: 0, drain_every_s: 60 });
      expect((await directory.refresh(id))?.sleep).toEqual({ idleAfterMs: null, drainEveryMs: 60_000 });
      expect((await plane.call(key, 'GET', path)).body['sleep']).toEqual({ idle_after_s: 0, drain_every_s: 60 });
      const reset = await plane.call(key, 'POST', `${path}/sleep`, { body: {} });
      expect([reset.status, reset.body['sleep']]).toEqual([200, undefined]);
      expect((await plane.call(key, 'POST', `${path}/sleep`, { body: { drain_every_s: 0 } })).status).toBe(400);
    });
  });

  describe('PUT /channels/{id}/retention', () => {
    it('sets for how long messages are stored, shows it with the channel, and goes back to the default', async () => {
      const { id } = channelOf(await create());
      const path = `/api/v1/channels/${id}`;
      const set = await plane.call(key, 'PUT', `${path}/retention`, { body: { days: 0 } });
      expect(OPERATIONS.setRetention.answer.parse(set.body).retention_days).toBe(0);
      const stored = await plane.regional.pool.query('SELECT retention_days FROM channels WHERE id = $1', [id]);
      expect(stored.rows).toEqual([{ retention_days: 0 }]);
      expect((await plane.call(key, 'GET', path)).body['retention_days']).toBe(0);
      const reset = await plane.call(key, 'PUT', `${path}/retention`, { body: {} });
      expect([reset.status, reset.body['retention_days']]).toEqual([200, undefined]);
      const refused = await plane.call(key, 'PUT', `${path}/retention`, { body: { days: -1 } });
      expect(refused).toMatchObject({ status: 400, body: { error: { details: 'days: must be 0 or more days' } } });
    });
  });

  describe('DELETE /channels/{id}', () => {
    it('leaves nothing of the channel in the global database but that it existed', async () => {
      const { id } = channelOf(await create({ name: 'A telling name' }));
      await plane.call(key, 'PATCH', `/api/v1/channels/${id}`, { body: { name: 'A telling name, too' } });
      await plane.call(key, 'DELETE', `/api/v1/channels/${id}`);
      const { rows: tables } = await plane.database.pool.query<{ name: string }>(
        `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
      );
      const holding = async (text: string): Promise<string[]> => {
        const found = await Promise.all(
          tables.map(async ({ name }) => {
            const { rowCount } = await plane.database.pool.query(
              `SELECT 1 FROM "${name}" t WHERE position($1 IN to_jsonb(t)::text) > 0 LIMIT 1`,
              [text],
            );
            return rowCount === 0 ? [] : [name];
          }),
        );
        return found.flat().sort();
      };
      // The audit log is kept for its own time, with the names that things had.
      expect([await holding(id), await holding('A telling name')]).toEqual([['audit_log', 'channels'], ['audit_log']]);
    });

    it('ends the token at once, and the worker ends the session', async () => {
      const created = await create();
      const { id } = channelOf(created);
      const shard = (await directory.byId(id))?.shard ?? -1;
      const commands: unknown[] = [];
      const worker = openCommandWorker({
        redisUrl: plane.redisUrl,
        shard,
        concurrency: 1,
        handle: async ({ channelId, name }) => {
          commands.push([channelId, name, await directory.byTokenHash(hashToken(tokenOf(created)))]);
          return { ok: true, result: { success: true } };
        },
        onError: () => undefined,
      });
      try {
        const answer = await plane.call(key, 'DELETE', `/api/v1/channels/${id}`, {
          headers: { 'content-type': 'application/json' },
        });
        expect(answer).toMatchObject({ status: 200, body: { success: true, unlinked: true } });
        expect(commands).toEqual([[id, 'channel.delete', undefined]]);
      } finally {
        await worker.close();
      }
      expect((await plane.call(key, 'GET', `/api/v1/channels/${id}`)).status).toBe(404);
      expect((await plane.call(key, 'DELETE', `/api/v1/channels/${id}`)).status).toBe(404);
      expect((await plane.call(key, 'GET', '/api/v1/channels')).body).toMatchObject({ total: 0 });
    });

    it('is as durable without a worker: the channel is marked deleted and the token is refused', async () => {
      const created = await create();
      const { id } = channelOf(created);
      const answer = await plane.call(key, 'DELETE', `/api/v1/channels/${id}`);
      expect(answer).toMatchObject({ status: 200, body: { success: true, unlinked: false } });
      expect(await directory.byId(id)).toMatchObject({ deleted: true });
      expect(await directory.byTokenHash(hashToken(tokenOf(created)))).toBeUndefined();
    });

    it('is 503 while the region is away, can be repeated, and is completed when the region is back', async () => {
      const entries = new ChannelEntries(plane.database);
      const { id } = await entries.begin({ accountId, region: 'eu', name: 'Far' }, NO_LIMITS);
      await entries.settleCreation(id, CAUSE);
      for (const _attempt of [1, 2]) {
        const answer = await plane.call(key, 'DELETE', `/api/v1/channels/${id}`);
        expect(answer.status).toBe(503);
      }
      expect((await plane.call(key, 'GET', `/api/v1/channels/${id}`)).status).toBe(404);
      // The region is back: its channels turn out to live where they can be reached.
      await directory.create({ id, accountId, name: 'Far', tokenHash: hashToken(id), shard: 0 });
      await plane.database.pool.query("UPDATE channels SET region = 'sg' WHERE id = $1", [id]);
      await plane.settleNow();
      expect(await directory.byId(id)).toMatchObject({ deleted: true });
      expect((await plane.call(key, 'DELETE', `/api/v1/channels/${id}`)).status).toBe(404);
    });
  });

  it('serves its OpenAPI document without a key', async () => {
    const answer = await plane.call(undefined, 'GET', '/api/v1/openapi.json');
    expect(answer).toMatchObject({ status: 200, body: { openapi: '3.1.0' } });
  });

  it('does not serve readiness and metrics on the port of customers', async () => {
    expect((await plane.call(undefined, 'GET', '/healthz')).body).toEqual({ status: 'alive' });
    for (const path of ['/readyz', '/metrics']) {
      expect([path, (await plane.call(undefined, 'GET', path)).status]).toEqual([path, 404]);
    }
  });

  it('answers unknown paths and broken requests with the envelope', async () => {
    const unknown = await plane.call(key, 'GET', '/api/v1/nothing');
    expect([unknown.status, errorOf(unknown)['code']]).toEqual([404, 404]);
    const huge = await plane.call(key, 'POST', '/api/v1/channels', { body: { name: 'x'.repeat(70_000) } });
    expect([huge.status, errorOf(huge)['code']]).toEqual([413, 413]);
  });

  it('has exactly the routes of the contract', () => {
    const listed = plane.app.getHttpAdapter().getInstance() as { hasRoute(route: object): boolean };
    for (const { method, path } of Object.values(OPERATIONS)) {
      const url = `/api/v1${path.replace(/\{(\w+)\}/g, ':$1')}`;
      expect([url, listed.hasRoute({ method: method.toUpperCase(), url })]).toEqual([url, true]);
    }
  });
});
