import { OPERATIONS, type Operation } from '@dormouse/management-contract';
import { detailsOf, SpecUser } from '../accounts/test-members.js';
import { FleetFiguresHistory } from '../fleet/fleet-history.js';
import { OPERATOR_KEY, RunningControlPlane, type Answer } from '../test-control-plane.js';

jest.setTimeout(60_000);

describe('operators and the accounts of others', () => {
  let plane: RunningControlPlane;
  let operator: SpecUser;
  let accountId: string;
  let key: string;
  const looks = async (): Promise<{ actor_id: string; address: string | null }[]> =>
    (
      await plane.database.pool.query<{ actor_id: string; address: string | null }>(
        "SELECT actor_id, address FROM audit_log WHERE account_id = $1 AND action = 'operator.look'",
        [accountId],
      )
    ).rows;
  const look = (path: string): Promise<Answer> => operator.call('GET', path, undefined, { 'x-account': accountId });

  beforeAll(async () => {
    plane = await RunningControlPlane.open();
    operator = await SpecUser.create(plane, { operator: true, secondFactor: true });
  });
  afterAll(() => plane.close());
  beforeEach(async () => {
    ({ accountId, accountKey: key } = await plane.newAccount());
  });

  describe('GET /operators/accounts', () => {
    const list = async (query = '') =>
      OPERATIONS.listOperatorAccounts.answer.parse(
        (await plane.call(OPERATOR_KEY, 'GET', `/api/v1/operators/accounts${query}`)).body,
      );

    it('has owners, channels and what they pay, and is searched by name, id and address of an owner', async () => {
      const owner = await (await SpecUser.create(plane)).join(accountId, 'owner');
      await plane.call(key, 'PATCH', '/api/v1/account', { body: { name: 'Corner Shop 100%' } });
      await plane.call(key, 'POST', '/api/v1/channels', { body: { name: 'One' } });
      const found = await list('?search=corner%20SHOP');
      expect(found.accounts).toMatchObject([
        { id: accountId, name: 'Corner Shop 100%', channels: 1, owners: [{ email: owner.email }] },
      ]);
      expect(found.accounts[0]?.billing).toMatchObject({ plan: 'off', open: 0 });
      for (const search of [accountId, owner.email.toUpperCase(), '100%']) {
        const ids = (await list(`?search=${encodeURIComponent(search)}`)).accounts.map(({ id }) => id);
        expect([search, ids]).toEqual([search, [accountId]]);
      }
      expect((await list('?search=%25')).accounts.map(({ id }) => id)).toEqual([accountId]);
      const one = await plane.call(OPERATOR_KEY, 'GET', `/api/v1/operators/accounts/${accountId}`);
      expect(OPERATIONS.getOperatorAccount.answer.parse(one.body)).toEqual(found.accounts[0]);
      expect((await plane.call(OPERATOR_KEY, 'GET', '/api/v1/operators/accounts/acc_none')).status).toBe(404);
    });

    it('goes on by its cursor, every account once', async () => {
      await plane.newAccount();
      await plane.newAccount();
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await list(`?count=2${cursor === undefined ? '' : `&cursor=${cursor}`}`);
        seen.push(...page.accounts.map(({ id }) => id));
        cursor = page.next;
      } while (cursor !== undefined);
      const { rows } = await plane.database.pool.query('SELECT id FROM accounts');
      expect([seen.length, new Set(seen).size]).toEqual([rows.length, rows.length]);
    });
  });

  describe('a look as the customer sees it', () => {
    it('shows what is read, after the audit log of the account has it: once in a quarter of an hour', async () => {
      await plane.call(key, 'POST', '/api/v1/channels', { body: { name: 'One' } });
      const answers = await Promise.all(
        ['/channels', '/account', '/account/members', '/account/keys', '/billing', '/audit'].map(look),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
      expect(answers[0]?.body).toMatchObject({ total: 1 });
      expect(answers[1]?.body).toMatchObject({ id: accountId, role: 'viewer' });
      expect(answers[3]?.body['keys']).toHaveLength(1);
      expect(await looks()).toEqual([{ actor_id: operator.id, address: expect.any(String) as string }]);
      await plane.database.pool.query(
        "UPDATE audit_log SET at = at - interval '16 minutes' WHERE account_id = $1 AND action = 'operator.look'",
        [accountId],
      );
      await look('/channels');
      expect(await looks()).toHaveLength(2);
    });

    it('changes nothing and shows no secret: 403, whatever the operation', async () => {
      const closed = Object.entries<Operation>(OPERATIONS).filter(
        ([, { method, access }]) =>
          access.for === 'members' && (method !== 'get' || access.hiddenFromOperators === true),
      );
      expect(closed.map(([name]) => name)).toEqual(
        expect.arrayContaining(['getSettings', 'watchLogin', 'getWebhookSecrets', 'exportAccount', 'deleteChannel']),
      );
      for (const [name, { method, path }] of closed) {
        const verb = method.toUpperCase() as 'GET';
        const answer = await operator.call(verb, path.replaceAll(/\{\w+\}/g, 'x'), {}, { 'x-account': accountId });
        expect([name, answer.status, detailsOf(answer)]).toEqual([
          name,
          403,
          expect.stringContaining('operators look') as string,
        ]);
      }
      expect(await looks()).toEqual([]);
    });

    it('is for operators with a second factor alone, and does not make them members', async () => {
      for (const options of [{}, { operator: true }]) {
        const user = await SpecUser.create(plane, options);
        const answer = await user.call('GET', '/channels', undefined, { 'x-account': accountId });
        expect([answer.status, await looks()]).toEqual([404, []]);
      }
      const missing = await operator.call('GET', '/channels', undefined, { 'x-account': 'acc_none' });
      expect(missing.status).toBe(404);
      await operator.join(accountId, 'owner');
      expect((await look('/account')).body).toMatchObject({ role: 'owner' });
      expect(await looks()).toEqual([]);
    });
  });

  describe('GET /fleet/{region}/history', () => {
    const read = async (query = '') =>
      OPERATIONS.getFleetHistory.answer.parse(
        (await plane.call(OPERATOR_KEY, 'GET', `/api/v1/fleet/sg/history${query}`)).body,
      );

    it('has a point for every minute: what was noted, once for all processes, and the wakes of the workers', async () => {
      await plane.call(key, 'POST', '/api/v1/channels', { body: { name: 'One' } });
      await plane.regional.pool.query(
        `INSERT INTO wake_latencies (minute, worker_id, up_to_ms, wakes, max_ms)
         SELECT date_trunc('minute', now()) - interval '3 minutes', worker, up_to_ms, 5, up_to_ms - 1
         FROM unnest(ARRAY['a', 'b']) AS worker, unnest(ARRAY[100, 400]) AS up_to_ms`,
      );
      const history = plane.app.get(FleetFiguresHistory, { strict: false });
      await Promise.all([history.note(), history.note()]);
      const { points } = await read('?minutes=10');
      expect(points).toHaveLength(10);
      expect(points.map(({ at }, index) => (points[0]?.at ?? 0) + index * 60 - at)).toEqual(Array(10).fill(0));
      const noted = points.filter(({ sessions }) => sessions !== undefined);
      expect(noted).toMatchObject([{ sessions: { closed: expect.any(Number) as number }, backlog: 0, waiting: 0 }]);
      const woken = points.filter(({ wakes }) => wakes.count > 0);
      expect(woken.map(({ wakes }) => wakes)).toEqual([{ count: 20, p50_ms: 100, p95_ms: 399, max_ms: 399 }]);
    });

    it('lacks what was not noted while a region is away, and is 503 then; what is older than an hour is deleted', async () => {
      const { pool } = plane.database;
      await pool.query("INSERT INTO fleet_samples (region, minute) VALUES ('sg', now() - interval '61 minutes')");
      await pool.query("DELETE FROM fleet_samples WHERE minute > now() - interval '30 minutes'");
      await plane.app.get(FleetFiguresHistory, { strict: false }).note();
      const { rows } = await pool.query(
        'SELECT region, figures IS NOT NULL AS noted FROM fleet_samples ORDER BY region',
      );
      expect(rows).toEqual([
        { region: 'eu', noted: false },
        { region: 'sg', noted: true },
      ]);
      expect((await plane.call(OPERATOR_KEY, 'GET', '/api/v1/fleet/eu/history')).status).toBe(503);
      const unknown = await plane.call(OPERATOR_KEY, 'GET', '/api/v1/fleet/usw/history');
      expect(unknown.status).toBe(404);
      const wrong = await plane.call(OPERATOR_KEY, 'GET', '/api/v1/fleet/sg/history?minutes=61');
      expect([wrong.status, detailsOf(wrong)]).toEqual([400, 'minutes: must be between 1 and 60']);
    });
  });
});
