import {
  KEY_SCOPES,
  MANAGEMENT_PREFIX,
  OPERATIONS,
  ROLES,
  type Access,
  type Operation,
} from '@dormouse/management-contract';
import { OPERATOR_KEY, RunningControlPlane, type Answer, type Method } from '../test-control-plane.js';
import { accessOf } from './access-table.js';
import { addKey, detailsOf, SpecUser } from './test-members.js';

jest.setTimeout(120_000);

type MemberAccess = Extract<Access, { for: 'members' }>;
const rows = Object.entries<Operation>(OPERATIONS);
const rowsFor = <For extends Access['for']>(who: For) =>
  rows.filter(([, { access }]) => access.for === who) as [
    string,
    Operation & { access: Extract<Access, { for: For }> },
  ][];

const PROOF = 'enter the password again first: POST /auth/prove';

describe('the access table', () => {
  let plane: RunningControlPlane;
  let accountId: string;

  beforeAll(async () => {
    plane = await RunningControlPlane.open();
  });
  afterAll(() => plane.close());
  beforeEach(async () => {
    ({ accountId } = await plane.newAccount());
    await (await SpecUser.create(plane)).join(accountId, 'owner');
  });

  /** The path of an operation for what does not exist, so that a caller who may do it changes nothing. */
  const request = ({ method, path }: Operation): [Method, string] => [
    method.toUpperCase() as Method,
    path.replaceAll(/\{\w+\}/g, 'unknown'),
  ];
  const asUser = (user: SpecUser, operation: Operation): Promise<Answer> => user.call(...request(operation), {});
  const asKey = (key: string, operation: Operation): Promise<Answer> => {
    const [method, path] = request(operation);
    return plane.call(key, method, MANAGEMENT_PREFIX + path, { body: {} });
  };
  const isLetIn = ({ status }: Answer): boolean => status !== 401 && status !== 403;

  it('has a row for every route that the server has, and a route for every row', () => {
    const instance = plane.app.getHttpAdapter().getInstance() as {
      printRoutes(options: { commonPrefix: boolean }): string;
    };
    const routes = routesIn(instance.printRoutes({ commonPrefix: false })).filter(
      (route) => route.includes(`${MANAGEMENT_PREFIX}/`) && !/openapi|auth\/callback|^HEAD|^OPTIONS/.test(route),
    );
    const unlisted = routes.filter((route) => {
      const [method = '', path = ''] = route.split(' ');
      return accessOf(method, path) === undefined;
    });
    expect([unlisted, routes.length]).toEqual([[], rows.length]);
  });

  it.each(rowsFor('members'))('%s: takes the roles of its row, and names them to others', async (_name, operation) => {
    const { roles } = operation.access;
    for (const role of ROLES) {
      const user = await (await SpecUser.create(plane)).join(accountId, role);
      const answer = await asUser(user, operation);
      if (roles.includes(role))
        expect([role, isLetIn(answer), detailsOf(answer)]).toEqual([role, true, detailsOf(answer)]);
      else {
        const details = `this takes the role ${roles.join(' or ')}; yours is ${role}`;
        expect([role, answer.status, detailsOf(answer)]).toEqual([role, 403, details]);
      }
    }
  });

  it.each(rowsFor('members'))(
    '%s: takes keys with the scope of its row, and names it to others',
    async (_name, operation) => {
      const { scope } = operation.access as MemberAccess;
      for (const own of KEY_SCOPES) {
        const answer = await asKey(await addKey(plane, accountId, [own]), operation);
        if (own === scope) expect([own, isLetIn(answer), detailsOf(answer)]).toEqual([own, true, detailsOf(answer)]);
        else {
          const details =
            scope === undefined
              ? 'this is for signed-in users; an account key has no user'
              : `the key needs the scope ${scope}`;
          expect([own, answer.status, detailsOf(answer)]).toEqual([own, 403, details]);
        }
      }
    },
  );

  it.each(rowsFor('users'))('%s: takes every signed-in user and no key', async (_name, operation) => {
    const answer = await asUser(await SpecUser.create(plane), operation);
    expect([isLetIn(answer), detailsOf(answer)]).toEqual([true, detailsOf(answer)]);
    const refused = await asKey(await addKey(plane, accountId), operation);
    expect([refused.status, detailsOf(refused)]).toEqual([
      403,
      'this is for signed-in users; an account key has no user',
    ]);
    expect((await asKey(OPERATOR_KEY, operation)).status).toBe(401);
  });

  it.each(rowsFor('operators'))(
    '%s: takes operators alone, and users only with a second factor',
    async (_name, operation) => {
      expect(isLetIn(await asKey(OPERATOR_KEY, operation))).toBe(true);
      const operator = await SpecUser.create(plane, { operator: true, secondFactor: true });
      expect(isLetIn(await asUser(operator, operation))).toBe(true);
      const half = await asUser(await SpecUser.create(plane, { operator: true }), operation);
      expect([half.status, detailsOf(half)]).toEqual([403, expect.stringContaining('second factor') as string]);
      const owner = await (await SpecUser.create(plane)).join(accountId, 'owner');
      for (const refused of [await asUser(owner, operation), await asKey(await addKey(plane, accountId), operation)]) {
        expect([refused.status, detailsOf(refused)]).toEqual([403, 'an operator is required']);
      }
    },
  );

  it.each(rows.filter(([, { access }]) => access.for !== 'anyone'))(
    '%s: is closed without key and session',
    async (_name, operation) => {
      const [method, path] = request(operation);
      const url = MANAGEMENT_PREFIX + path;
      expect((await plane.call(undefined, method, url, { body: {} })).status).toBe(401);
      const cookie = 'dormouse.session_token=forged.c2lnbmF0dXJl';
      const origin = 'http://dormouse.test';
      expect((await plane.call(undefined, method, url, { body: {}, headers: { cookie, origin } })).status).toBe(401);
    },
  );

  it.each(
    rows.filter(([, { access }]) => access.for !== 'anyone' && access.for !== 'operators' && access.proof === true),
  )(
    '%s: requires the password again from a session when it was entered more than 15 minutes ago',
    async (_name, operation) => {
      const stale = await (await SpecUser.create(plane, { provenAgoMs: 901_000 })).join(accountId, 'owner');
      expect(await asUser(stale, operation)).toMatchObject({ status: 403, body: { error: { details: PROOF } } });
      const fresh = await (await SpecUser.create(plane, { provenAgoMs: 880_000 })).join(accountId, 'owner');
      expect(detailsOf(await asUser(fresh, operation))).not.toBe(PROOF);
    },
  );

  it.each(rows.filter(([, { method, access }]) => method !== 'get' && access.for !== 'anyone'))(
    '%s: refuses a session from a page of another origin, and from a program that names none',
    async (_name, operation) => {
      const user = await (
        await SpecUser.create(plane, { operator: true, secondFactor: true })
      ).join(accountId, 'owner');
      for (const origin of ['http://evil.test', '']) {
        const answer = await user.call(...request(operation), {}, { origin });
        expect([answer.status, detailsOf(answer)]).toEqual([403, expect.stringContaining('origin: must be') as string]);
      }
    },
  );

  describe('the account of a session', () => {
    it('is the only one of the user, or the one that X-Account names; another one is not found', async () => {
      const user = await (await SpecUser.create(plane)).join(accountId, 'viewer');
      expect((await user.call('GET', '/account')).body).toMatchObject({ id: accountId, role: 'viewer' });
      const { accountId: second } = await plane.newAccount();
      const { accountId: strange } = await plane.newAccount();
      await user.join(second, 'owner');
      const unclear = await user.call('GET', '/account');
      expect([unclear.status, detailsOf(unclear)]).toEqual([400, expect.stringMatching(/^X-Account: /) as string]);
      for (const [id, role] of [
        [accountId, 'viewer'],
        [second, 'owner'],
      ] as const) {
        expect((await user.call('GET', '/account', undefined, { 'x-account': id })).body).toMatchObject({ id, role });
      }
      for (const id of [strange, 'acc_none', `${accountId},${second}`]) {
        expect((await user.call('GET', '/account', undefined, { 'x-account': id })).status).toBe(404);
      }
    });

    it('cannot be another one than that of the key', async () => {
      const key = await addKey(plane, accountId);
      const get = (id: string) => plane.call(key, 'GET', '/api/v1/account', { headers: { 'x-account': id } });
      expect([(await get(accountId)).status, (await get((await plane.newAccount()).accountId)).status]).toEqual([
        200, 404,
      ]);
    });

    it('is missing for a user who is in none: 403 that names what to do', async () => {
      const answer = await (await SpecUser.create(plane)).call('GET', '/account');
      expect([answer.status, detailsOf(answer)]).toEqual([403, expect.stringContaining('POST /accounts') as string]);
    });
  });

  it('knows nobody by an old answer: a session that was ended and a member who was removed are refused at the next request', async () => {
    const user = await (await SpecUser.create(plane)).join(accountId, 'viewer');
    expect((await user.call('GET', '/account')).status).toBe(200);
    await plane.database.pool.query('DELETE FROM memberships WHERE user_id = $1', [user.id]);
    expect((await user.call('GET', '/account')).status).toBe(403);
    await plane.database.pool.query('DELETE FROM user_sessions WHERE user_id = $1', [user.id]);
    expect((await user.call('GET', '/account')).status).toBe(401);
  });
});

/** `METHOD /path` of each route in Fastify's drawing of its routes. */
function routesIn(drawing: string): string[] {
  const parents: string[] = [];
  return drawing.split('\n').flatMap((line) => {
    const found = /^([│ ]*)[├└]── (\S*)(?: \((.*)\))?$/.exec(line);
    if (!found) return [];
    const [, indent = '', part = '', methods] = found;
    const depth = indent.length / 4;
    parents.splice(depth, parents.length, part);
    return (methods ?? '')
      .split(', ')
      .filter(Boolean)
      .map((method) => `${method} ${parents.join('')}`);
  });
}
