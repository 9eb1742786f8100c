import { KEY_SCOPES, OPERATIONS, type KeyScope } from '@dormouse/management-contract';
import { RunningControlPlane, type Answer, type Method } from '../test-control-plane.js';
import { holdLocks, lockWaiters } from '../test-locks.js';
import { KeyUse } from './key-use.js';
import { detailsOf, SpecUser } from './test-members.js';

jest.setTimeout(60_000);

describe('the keys of an account', () => {
  let plane: RunningControlPlane;
  let accountId: string;
  let firstKey: string;
  let owner: SpecUser;
  const created = ({ body }: Answer) => OPERATIONS.createKey.answer.parse(body);
  const create = (user: SpecUser, scopes: readonly KeyScope[], more: object = {}) =>
    user.call('POST', '/account/keys', { name: 'CI', scopes, ...more });
  const asKey = (key: string, method: Method, path: string, body?: object) =>
    plane.call(key, method, `/api/v1${path}`, body === undefined ? {} : { body });
  const keysOf = async (user: SpecUser) =>
    OPERATIONS.listKeys.answer.parse((await user.call('GET', '/account/keys')).body).keys;

  beforeAll(async () => {
    plane = await RunningControlPlane.open();
  });
  afterAll(() => plane.close());
  beforeEach(async () => {
    ({ accountId, accountKey: firstKey } = await plane.newAccount());
    owner = await (await SpecUser.create(plane)).join(accountId, 'owner');
  });

  it('are shown once, and listed by name with their scopes, maker and end, but without the key', async () => {
    const expiresAt = Math.floor(Date.now() / 1_000) + 3_600;
    const { key, secret } = created(
      await create(owner, ['channels:write', 'channels:read'], { expires_at: expiresAt }),
    );
    expect(key).toEqual({
      id: key.id,
      name: 'CI',
      scopes: ['channels:read', 'channels:write'],
      created_at: expect.any(Number) as number,
      created_by: owner.id,
      expires_at: expiresAt,
    });
    const listed = await owner.call('GET', '/account/keys');
    expect(JSON.stringify(listed.body)).not.toContain(secret);
    expect(await keysOf(owner)).toContainEqual(key);
    expect((await asKey(secret, 'GET', '/channels')).status).toBe(200);
  });

  it('are refused at once when they are ended, and after their end', async () => {
    const [ended, past] = [
      created(await create(owner, ['account:read'])),
      created(await create(owner, ['account:read'])),
    ];
    expect((await owner.call('DELETE', `/account/keys/${ended.key.id}`)).status).toBe(204);
    await plane.database.pool.query("UPDATE account_keys SET expires_at = now() - interval '1 ms' WHERE id = $1", [
      past.key.id,
    ]);
    for (const { key, secret } of [ended, past]) {
      expect((await asKey(secret, 'GET', '/account')).status).toBe(401);
      expect((await keysOf(owner)).map(({ id }) => id)).not.toContain(key.id);
    }
    expect((await owner.call('DELETE', `/account/keys/${ended.key.id}`)).status).toBe(404);
    expect(detailsOf(await create(owner, ['account:read'], { expires_at: 1_700_000_000 }))).toBe(
      'expires_at: must be in the future',
    );
  });

  it('of another account are not found', async () => {
    const other = await (await SpecUser.create(plane)).join((await plane.newAccount()).accountId, 'owner');
    const { key, secret } = created(await create(other, ['account:read']));
    expect((await owner.call('DELETE', `/account/keys/${key.id}`)).status).toBe(404);
    expect((await asKey(secret, 'GET', '/account')).status).toBe(200);
  });

  it('show when they were used last, written at most once a minute', async () => {
    const { key, secret } = created(await create(owner, ['account:read']));
    const used = async () => (await keysOf(owner)).find(({ id }) => id === key.id)?.last_used_at;
    expect(await used()).toBeUndefined();
    await asKey(secret, 'GET', '/account');
    await plane.keyUseWritten();
    expect(await used()).toBeGreaterThan(0);
    const write = "UPDATE account_keys SET last_used_at = now() - $2::int * interval '1 second' WHERE id = $1";
    const ageS = async () => Math.floor(Date.now() / 1_000) - ((await used()) ?? 0);
    await plane.database.pool.query(write, [key.id, 50]);
    await asKey(secret, 'GET', '/account');
    await plane.keyUseWritten();
    // Another process has read the key before it was used.
    const other = new KeyUse(plane.database);
    other.used({ id: key.id, lastUsedAt: null });
    await other.close();
    expect(await ageS()).toBeGreaterThanOrEqual(49);
    await plane.database.pool.query(write, [key.id, 70]);
    await asKey(secret, 'GET', '/account');
    await plane.keyUseWritten();
    expect(await ageS()).toBeLessThan(40);
  });

  it('do no more than the key that made them: neither other scopes, nor longer', async () => {
    const end = Math.floor(Date.now() / 1_000) + 3_600;
    const parent = created(await create(owner, ['keys:write', 'channels:read'], { expires_at: end })).secret;
    const make = (body: object) => asKey(parent, 'POST', '/account/keys', { name: 'child', ...body });
    const wider = await make({ scopes: ['channels:read', 'channels:write'], expires_at: end });
    expect([wider.status, detailsOf(wider)]).toEqual([
      403,
      'scopes: the key that creates it may not give channels:write',
    ]);
    for (const longer of [{}, { expires_at: end + 1 }]) {
      const refused = await make({ scopes: ['channels:read'], ...longer });
      expect([refused.status, detailsOf(refused)]).toEqual([403, expect.stringMatching(/^expires_at: /) as string]);
    }
    const child = await make({ scopes: ['channels:read'], expires_at: end });
    expect(created(child).key).toMatchObject({ scopes: ['channels:read'], created_by: owner.id });
  });

  it('of developers are their own alone: they see, make and end no others, and none that does more than a developer', async () => {
    const developer = await (await SpecUser.create(plane)).join(accountId, 'developer');
    const theirs = created(await create(owner, ['channels:read'])).key;
    const refused = await create(developer, ['channels:read', 'billing:write']);
    expect([refused.status, detailsOf(refused)]).toEqual([403, 'scopes: a developer may not give billing:write']);
    const { key } = created(await create(developer, ['channels:read']));
    expect((await keysOf(developer)).map(({ id }) => id)).toEqual([key.id]);
    expect((await developer.call('DELETE', `/account/keys/${theirs.id}`)).status).toBe(404);
    expect((await owner.call('DELETE', `/account/keys/${key.id}`)).status).toBe(204);
  });

  it('end with their maker: when a member is removed, and those beyond a new role', async () => {
    const developer = await (await SpecUser.create(plane)).join(accountId, 'owner');
    const narrow = created(await create(developer, ['channels:read'])).secret;
    const wide = created(await create(developer, ['channels:read', 'account:write'])).secret;
    await owner.call('PATCH', `/account/members/${developer.id}`, { role: 'developer' });
    expect((await asKey(narrow, 'GET', '/channels')).status).toBe(200);
    expect((await asKey(wide, 'GET', '/channels')).status).toBe(401);
    await owner.call('DELETE', `/account/members/${developer.id}`);
    expect((await asKey(narrow, 'GET', '/channels')).status).toBe(401);
  });

  const child = (secret: string) =>
    asKey(secret, 'POST', '/account/keys', { name: 'child', scopes: ['keys:write', 'account:read'] });
  const opens = async (secret: string) => (await asKey(secret, 'GET', '/account')).status;

  it('end with the key that made them, and those that these made, each in the audit log; others go on', async () => {
    const [parent, other] = [created(await child(firstKey)), created(await child(firstKey))];
    const first = created(await child(parent.secret));
    const second = created(await child(first.secret));
    expect([first.key.created_by_key, second.key.created_by_key]).toEqual([parent.key.id, first.key.id]);
    expect((await owner.call('DELETE', `/account/keys/${parent.key.id}`)).status).toBe(204);
    const secrets = [parent, first, second, other].map(({ secret }) => secret);
    expect(await Promise.all(secrets.map(opens))).toEqual([401, 401, 401, 200]);
    const { rows } = await plane.database.pool.query<{ object_id: string; details: unknown }>(
      `SELECT object_id, details FROM audit_log WHERE account_id = $1 AND action = 'key.end' ORDER BY id`,
      [accountId],
    );
    const endedWith = { ended_with: parent.key.id };
    expect(new Map(rows.map(({ object_id: id, details }) => [id, details]))).toEqual(
      new Map<string, unknown>([
        [parent.key.id, null],
        [first.key.id, endedWith],
        [second.key.id, endedWith],
      ]),
    );
    const wider = created(await owner.call('POST', '/account/keys', { name: 'x', scopes: ['account:read'] })).key;
    expect(wider.created_by_key).toBeUndefined();
  });

  it.each(['before', 'after'] as const)(
    'leave no key behind that their key makes just %s it is ended, both at the same time',
    async (moment) => {
      const parent = created(await child(firstKey));
      const { release } = await holdLocks(plane.database, 'SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE', [
        accountId,
      ]);
      // Both are past the guard, which saw a key that works, and wait: who waits first is next.
      const make = () => child(parent.secret);
      const end = () => owner.call('DELETE', `/account/keys/${parent.key.id}`);
      const waiting: Promise<Answer>[] = [];
      for (const request of moment === 'before' ? [make, end] : [end, make]) {
        waiting.push(request());
        await lockWaiters(plane.database, waiting.length);
      }
      await release();
      const [first, second] = await Promise.all(waiting);
      const [made, ended] = moment === 'before' ? [first, second] : [second, first];
      expect(ended?.status).toBe(204);
      expect(made?.status).toBe(moment === 'before' ? 201 : 403);
      if (made?.status === 201) expect(await opens(created(made).secret)).toBe(401);
      expect((await keysOf(owner)).filter(({ created_by_key: maker }) => maker === parent.key.id)).toEqual([]);
    },
  );

  it('are listed the newest first, and those of one millisecond by their ids', async () => {
    const { pool } = plane.database;
    const made: string[] = [];
    while (made.length < 4) made.push(created(await create(owner, ['account:read'])).key.id);
    const listed = async () => (await keysOf(owner)).map(({ id }) => id).filter((id) => made.includes(id));
    const madeAt = `UPDATE account_keys SET created_at = now() - array_position($1, id) * $2::int * interval '1 ms' WHERE id = ANY($1)`;
    await pool.query(madeAt, [made, 1]);
    expect(await listed()).toEqual(made);
    await pool.query(madeAt, [made, 0]);
    const byId = 'SELECT id FROM account_keys WHERE id = ANY($1) ORDER BY id';
    const { rows } = await pool.query<{ id: string }>(byId, [made]);
    expect(await listed()).toEqual(rows.map(({ id }) => id));
  });

  it('name the field that is wrong', async () => {
    const refusals = [
      [{ scopes: [] }, 'scopes: must have at least one'],
      [{ scopes: ['everything'] }, `scopes.0: must be among ${KEY_SCOPES.join(', ')}`],
      [{ name: '' }, 'name: must not be empty'],
      [{ expires_at: 'soon' }, expect.stringMatching(/^expires_at: /)],
    ] as const;
    for (const [change, details] of refusals) {
      const refused = await create(owner, ['account:read'], change);
      expect([refused.status, detailsOf(refused)]).toEqual([400, details]);
    }
  });
});
