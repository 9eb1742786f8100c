import { ChannelDirectory } from '@dormouse/channel-directory';
import type { RegionalDatabase } from '@dormouse/database';
import { OPERATIONS, type ManagedChannel } from '@dormouse/management-contract';
import { openCommandWorker, type CommandReply } from '@dormouse/queues';
import { rowsOfPlan } from '@dormouse/stack/test-stores';
import type { Cause } from '../accounts/cause.js';
import { RunningControlPlane, type Answer, type Method } from '../test-control-plane.js';
import { ChannelEntries } from './channel-entries.js';

jest.setTimeout(60_000);

const CAUSE: Cause = { actor: { kind: 'system', id: 'spec' } };
const detailsOf = ({ body }: Answer): unknown => (body['error'] as { details?: unknown } | undefined)?.details;

describe('channels in the management API', () => {
  let plane: RunningControlPlane;
  let directory: ChannelDirectory;
  let entries: ChannelEntries;
  let key: string;
  let accountId: string;
  const call = (method: Method, path: string, body?: unknown): Promise<Answer> =>
    plane.call(key, method, `/api/v1/channels${path}`, body === undefined ? {} : { body });
  const create = async (name = 'Shop'): Promise<ManagedChannel> =>
    OPERATIONS.createChannel.answer.parse((await call('POST', '', { name })).body).channel;
  /** A channel whose region is away. */
  const createFar = async (name: string): Promise<string> => {
    const { id } = await entries.begin(
      { accountId, region: 'eu', name },
      { channelsPerAccount: 1_000, channelsPerHalfHour: 0 },
    );
    await entries.settleCreation(id, CAUSE);
    return id;
  };
  const list = async (query = ''): Promise<ManagedChannel[]> =>
    OPERATIONS.listChannels.answer.parse((await call('GET', `?${query}`)).body).channels;
  const setSession = (id: string, columns: Record<string, unknown>) => {
    const names = Object.keys(columns);
    const sets = names.map((name, at) => `${name} = $${at + 2}`).join(', ');
    return plane.regional.pool.query(`UPDATE channels SET ${sets} WHERE id = $1`, [id, ...Object.values(columns)]);
  };
  /** Statements about channels of the account (whose ids have the end of its id) that run meanwhile. */
  const statementsOf = async (work: () => Promise<unknown>) => {
    const ran: { pool: RegionalDatabase['pool']; text: string; values: unknown[] }[] = [];
    const pools = [
      plane.database.pool,
      await plane.regions.link('sg')?.run((_directory, { pool }) => Promise.resolve(pool)),
    ];
    const spies = pools.flatMap((pool) => {
      if (!pool) return [];
      const query = pool.query.bind(pool);
      return jest.spyOn(pool, 'query').mockImplementation((...given: unknown[]) => {
        const { text = '', values = [] } = given[0] as { text?: string; values?: unknown[] };
        // What reaches regions meanwhile is for no account in particular.
        const isOfAccount = JSON.stringify(values).includes(accountId.slice(-6));
        if (isOfAccount && /\bchannels\b/.test(text)) ran.push({ pool, text, values });
        return Reflect.apply(query, undefined, given) as never;
      });
    });
    await work();
    spies.forEach((spy) => spy.mockRestore());
    return ran;
  };
  const lastAudit = async (): Promise<{ action: string; details: unknown }[]> =>
    (
      await plane.database.pool.query<{ action: string; details: unknown }>(
        'SELECT action, details FROM audit_log WHERE account_id = $1 ORDER BY id DESC LIMIT 2',
        [accountId],
      )
    ).rows;

  beforeAll(async () => {
    plane = await RunningControlPlane.open();
    directory = new ChannelDirectory({ database: plane.regional, cacheMs: 0 });
    entries = new ChannelEntries(plane.database);
  });
  afterAll(() => plane.close());
  beforeEach(async () => {
    ({ accountKey: key, accountId } = await plane.newAccount());
  });

  describe('their list', () => {
    it('has the present status of each, and unknown where the region is away', async () => {
      const [one, two] = [await create('One'), await create('Two')];
      const far = await createFar('Far');
      await setSession(one.id, {
        session_state: 'hibernated',
        linked: true,
        first_linked_at: new Date(),
        phone: '15550001111',
        push_name: 'Example Shop',
        wake_at: new Date(1_900_000_000_000),
        standing: 'past_due',
      });
      const shown = await list();
      expect(shown.map(({ id, state }) => [id, state])).toEqual([
        [far, 'unknown'],
        [two.id, 'not_linked'],
        [one.id, 'asleep'],
      ]);
      expect(shown[2]).toMatchObject({
        status: { code: 4, text: 'connected', hibernated: true },
        attention: { what: 'pay' },
        standing: 'past_due',
        phone: '15550001111',
        phone_name: 'Example Shop',
        wake_at: 1_900_000_000,
      });
      expect(shown[0]).not.toHaveProperty('attention');
    });

    it('is searched by name, by id and by the digits of the number', async () => {
      const shop = await create('Corner Shop 100%');
      const bakery = await create('Bakery');
      await setSession(bakery.id, { linked: true, phone: '4915112345678' });
      const found = async (search: string) => (await list(`search=${encodeURIComponent(search)}`)).map(({ id }) => id);
      expect(await found('corner')).toEqual([shop.id]);
      expect(await found(bakery.id.toLowerCase())).toEqual([bakery.id]);
      expect(await found('+49 151-1234')).toEqual([bakery.id]);
      expect(await found('100%')).toEqual([shop.id]);
      expect(await found('%')).toEqual([shop.id]);
      expect(await found('_')).toEqual([]);
      expect(await found('49')).toEqual([]);
      const page = await call('GET', '?search=a&count=1');
      expect(page.body).toMatchObject({ count: 1, total: (await found('a')).length });
    });

    it('finds no number of another account', async () => {
      const { id } = await create();
      await setSession(id, { linked: true, phone: '4915112345678' });
      ({ accountKey: key, accountId } = await plane.newAccount());
      expect(await list('search=4915112345678')).toEqual([]);
    });

    it('of 5,000 channels reads a page with as many statements as one channel, and little beside it', async () => {
      const ids = Array.from({ length: 5_000 }, (_, at) => `MANY-${at}-${accountId.slice(-6)}`);
      await plane.database.pool.query(
        `INSERT INTO channels (id, account_id, region, name, unsettled_since, created_at)
         SELECT id, $2, 'sg', 'Number ' || id, NULL, now() + at * interval '1 second'
         FROM unnest($1::text[]) WITH ORDINALITY AS n (id, at)`,
        [ids, accountId],
      );
      await plane.regional.pool.query(
        `INSERT INTO channels (id, account_id, name, token_hash, shard)
         SELECT id, $2, id, sha256(id::bytea), 0 FROM unnest($1::text[]) AS id`,
        [ids, accountId],
      );
      for (const { pool } of [plane.database, plane.regional]) await pool.query('ANALYZE channels');
      const one = await statementsOf(() => list('count=1'));
      const page = await statementsOf(async () => expect(await list('count=100')).toHaveLength(100));
      expect(page.map(({ text }) => text)).toEqual(one.map(({ text }) => text));
      const plans = await Promise.all(page.map(({ pool, text, values }) => rowsOfPlan(pool, text, values)));
      const ofPage = plans.filter(({ found }) => found === 100);
      expect(ofPage).toHaveLength(2);
      expect(Math.max(...ofPage.map(({ read }) => read))).toBeLessThan(500);
    });
  });

  it.each([
    ['never linked', { session_state: 'closed' }, { state: 'not_linked', attention: { what: 'link' } }],
    ['a code waits', { session_state: 'qr' }, { state: 'linking', attention: { what: 'link' } }],
    ['logged out here', { first_linked_at: new Date() }, { state: 'not_linked', attention: { what: 'link_again' } }],
    [
      'logged out on the phone',
      { first_linked_at: new Date(), session_reason: 'unlinked', session_since: new Date(1_700_000_000_000) },
      { state: 'not_linked', attention: { what: 'unlinked', since: 1_700_000_000, reason: 'unlinked' } },
    ],
    [
      'refused by its proxy',
      { linked: true, session_state: 'connecting', session_reason: 'proxy_refused' },
      { state: 'connecting', attention: { what: 'proxy_refused' }, status: { reason: 'proxy_refused' } },
    ],
    [
      'restricted by the network',
      { linked: true, session_reason: 'locked' },
      { state: 'stopped', attention: { what: 'restricted', reason: 'locked' } },
    ],
    [
      'unreachable',
      { linked: true, session_reason: 'unreachable', standing: 'past_due' },
      { state: 'stopped', attention: { what: 'unreachable' } },
    ],
    ['waking', { linked: true, session_state: 'waking' }, { state: 'waking' }],
    ['connected', { linked: true, session_state: 'open' }, { state: 'connected' }],
  ])('%s: shows what it does and whether a person must act', async (_title, columns, shown) => {
    const { id } = await create();
    await setSession(id, columns);
    const channel = OPERATIONS.getChannel.answer.parse((await call('GET', `/${id}`)).body);
    expect(channel).toMatchObject(shown);
    if (!('attention' in shown)) expect(channel).not.toHaveProperty('attention');
  });

  describe('a new name', () => {
    it('is stored in both databases and in the audit log', async () => {
      const { id } = await create();
      const answer = await call('PATCH', `/${id}`, { name: ' Corner ' });
      expect(OPERATIONS.renameChannel.answer.parse(answer.body)).toMatchObject({
        id,
        name: 'Corner',
        state: 'not_linked',
      });
      expect((await list())[0]?.name).toBe('Corner');
      expect((await directory.byId(id))?.name).toBe('Corner');
      expect((await lastAudit())[0]?.action).toBe('channel.rename');
    });

    it('is refused when it is empty, and changes nothing while the region is away', async () => {
      const far = await createFar('Far');
      expect(detailsOf(await call('PATCH', `/${far}`, { name: ' ' }))).toBe('name: must not be empty');
      const answer = await call('PATCH', `/${far}`, { name: 'Near' });
      expect([answer.status, detailsOf(answer)]).toEqual([503, 'the name was not changed: try again']);
      expect((await list())[0]?.name).toBe('Far');
    });
  });

  describe('settings', () => {
    it('are the record of the gateway; a change answers all of it, and the audit log names the fields alone', async () => {
      const { id } = await create();
      const before = await call('GET', `/${id}/settings`);
      expect(OPERATIONS.getSettings.answer.parse(before.body)).toMatchObject({ webhooks: [], auto_read: false });
      const patch = {
        webhooks: [{ url: 'https://hooks.example.com/secret-path', headers: { 'X-Key': 'hush' } }],
        proxy: 'socks5://user:secret@proxy.example:1080',
        media: { init_avatars: true },
      };
      const answer = await call('PATCH', `/${id}/settings`, patch);
      expect(OPERATIONS.changeSettings.answer.parse(answer.body)).toMatchObject({
        webhooks: [{ url: 'https://hooks.example.com/secret-path', mode: 'body' }],
        proxy: 'socks5://user:***@proxy.example:1080',
        media: { init_avatars: true, auto_download: [] },
      });
      expect((await call('GET', `/${id}/settings`)).body).toEqual(answer.body);
      expect(await lastAudit()).toMatchObject([
        { action: 'channel.change-settings', details: { fields: 'media, webhooks, proxy' } },
        { action: 'channel.create' },
      ]);
      expect(plane.logged.join('')).not.toMatch(/hush|secret-path|user:secret/);
    });

    it.each([
      [{ webhooks: [{ url: 'http://127.0.0.1/hook' }] }, 'webhooks.0.url: must not be a private address'],
      [{ proxy: 'socks5://user:secret@10.0.0.1:1080' }, 'proxy: must not be a private address'],
      [{ proxy: 'socks5://user:secret@proxy.example:70000' }, 'proxy: must have a port between 1 and 65535'],
      [{ auto_read: 'yes' }, 'auto_read: must be true or false'],
    ])('are refused by the rules of the gateway, naming the field: %j', async (patch, details) => {
      const { id } = await create();
      const answer = await call('PATCH', `/${id}/settings`, patch);
      expect([answer.status, detailsOf(answer)]).toEqual([400, details]);
    });

    it('of a channel of another account are not found; while the region is away nothing is changed', async () => {
      const { id } = await create();
      const far = await createFar('Far');
      expect([
        (await call('GET', `/${far}/settings`)).status,
        (await call('PATCH', `/${far}/settings`, {})).status,
      ]).toEqual([503, 503]);
      ({ accountKey: key, accountId } = await plane.newAccount());
      expect((await call('GET', `/${id}/settings`)).status).toBe(404);
      expect((await call('PATCH', `/${id}/settings`, { auto_read: true })).status).toBe(404);
      expect((await directory.byId(id))?.settings.auto_read).toBe(false);
    });
  });

  describe('logging out', () => {
    const logOut = async (id: string, reply?: CommandReply) => {
      if (!reply) return { answer: await call('POST', `/${id}/logout`), names: [] };
      const names: string[] = [];
      const shard = (await directory.byId(id))?.shard ?? 0;
      const handle = ({ name }: { name: string }) => Promise.resolve((names.push(name), reply));
      const worker = openCommandWorker({
        redisUrl: plane.redisUrl,
        shard,
        concurrency: 1,
        handle,
        onError: () => undefined,
      });
      try {
        return { answer: await call('POST', `/${id}/logout`), names };
      } finally {
        await worker.close();
      }
    };

    it('is done by the worker of the channel, and is in the audit log', async () => {
      const { id } = await create();
      await setSession(id, { linked: true, session_state: 'open' });
      const { answer, names } = await logOut(id, { ok: true, result: { success: true } });
      expect([answer.status, answer.body, names]).toEqual([200, { success: true }, ['channel.logout']]);
      expect((await lastAudit())[0]?.action).toBe('channel.log-out');
    });

    it('is done already where no number is linked, and needs no worker for it', async () => {
      expect((await logOut((await create()).id)).answer).toMatchObject({ status: 200, body: { success: true } });
    });

    it('is 503 while no worker answers, and the audit log records that it failed', async () => {
      const { id } = await create();
      await setSession(id, { linked: true, session_state: 'open' });
      const { answer } = await logOut(id);
      expect(answer.status).toBe(503);
      expect((await lastAudit())[0]).toMatchObject({ action: 'channel.log-out.failed', details: { status: 503 } });
    });
  });
});
