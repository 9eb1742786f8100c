import { ChannelDirectory, ChannelSeals, webhookIds } from '@dormouse/channel-directory';
import { OPERATIONS, type Operation, type OperationName } from '@dormouse/management-contract';
import { detailsOf, SpecUser } from '../accounts/test-members.js';
import { OPERATOR_KEY, RunningControlPlane, type Answer, type Method } from '../test-control-plane.js';
import { tokenIn } from '../users/test-browser.js';
import { AUDIT_KEPT_DAYS, AuditRetention } from './audit-retention.js';

jest.setTimeout(120_000);

interface Entry {
  action: string;
  actor_kind: string;
  actor_id: string;
  account_id: string | null;
  object_id: string | null;
}

/** Operations of users about themselves belong to no account; sleep and wake need a worker, drains and placements an alive one. */
const ELSEWHERE = /^\/(auth|billing|fleet|operators\/accounts\/\{id\}\/free-numbers)/;

describe('the audit log', () => {
  let plane: RunningControlPlane;
  let owner: SpecUser;
  let accountId: string;
  /** Every token and key that an answer or a mail had. */
  const secrets: string[] = [];
  const done = new Set<string>();

  beforeAll(async () => {
    plane = await RunningControlPlane.open();
    owner = await SpecUser.create(plane);
  });
  afterAll(() => plane.close());

  const entriesOf = async (requestId: unknown): Promise<Entry[]> =>
    (await plane.database.pool.query<Entry>('SELECT * FROM audit_log WHERE request_id = $1 ORDER BY id', [requestId]))
      .rows;

  /** Carries out an operation, which must succeed and have exactly the entries of these actions. */
  const run = async (
    name: OperationName,
    actions: string[],
    { ids = {}, body, as = owner }: { ids?: Record<string, string>; body?: object; as?: SpecUser | string } = {},
  ): Promise<Answer> => {
    const operation: Operation = OPERATIONS[name];
    const method = operation.method.toUpperCase() as Method;
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, id: string) => ids[id] ?? '');
    const answer =
      typeof as === 'string'
        ? await plane.call(as, method, `/api/v1${path}`, body ? { body } : {})
        : await as.call(method, path, body);
    expect([name, answer.status, detailsOf(answer)]).toEqual([name, operation.status, undefined]);
    const entries = await entriesOf(answer.headers['x-request-id']);
    expect([name, entries.map(({ action }) => action)]).toEqual([name, actions]);
    for (const entry of entries) {
      const kind = as === OPERATOR_KEY ? 'operator' : typeof as === 'string' ? 'key' : 'user';
      expect([name, entry.actor_kind, entry.object_id]).toEqual([name, kind, expect.any(String)]);
    }
    for (const field of ['token', 'secret'])
      if (typeof answer.body[field] === 'string') secrets.push(answer.body[field]);
    done.add(name);
    return answer;
  };

  it('has an entry for everything that an operation changes in an account, and never a token or key', async () => {
    accountId = String((await run('createAccount', ['account.create'], { body: { name: 'Acme' } })).body['id']);
    await run('renameAccount', ['account.rename'], { body: { name: 'Acme 2' } });
    const limits = { channels_per_half_hour: 0, never_linked_channels: 0 };
    await run('setAccountLimits', ['account.set-limits'], { ids: { id: accountId }, body: limits, as: OPERATOR_KEY });

    const created = await run('createChannel', ['channel.create'], { body: { name: 'Shop' } });
    const id = String(Reflect.get(Object(created.body['channel']), 'id'));
    await run('rotateToken', ['channel.rotate-token'], { ids: { id } });
    await run('renameChannel', ['channel.rename'], { ids: { id }, body: { name: 'Shop 2' } });
    await run('changeSettings', ['channel.change-settings'], { ids: { id }, body: { auto_read: true } });
    await run('logOutChannel', ['channel.log-out'], { ids: { id } });
    await run('setSleep', ['channel.set-sleep'], { ids: { id }, body: { idle_after_s: 0 } });
    await run('setRetention', ['channel.set-retention'], { ids: { id }, body: { days: 30 } });
    const rotated = await run('rotateWebhookSecret', ['webhook.rotate-secret'], { ids: { id } });
    for (const { secret } of OPERATIONS.rotateWebhookSecret.answer.parse(rotated.body).secrets) secrets.push(secret);
    const hook = await webhookOf(plane, id);
    await run('sendTestEvent', ['webhook.test'], { ids: { id, webhook: hook } });
    await run('replayEvents', ['webhook.replay'], { ids: { id, webhook: hook }, body: { from: 1_700_000_000 } });
    await run('redriveDeadLetters', ['webhook.redrive'], { ids: { id, webhook: hook }, body: {} });

    const key = await run('createKey', ['key.create'], {
      body: { name: 'CI', scopes: ['account:write', 'keys:write'] },
    });
    const keyId = OPERATIONS.createKey.answer.parse(key.body).key.id;
    await run('renameAccount', ['account.rename'], { body: { name: 'Acme 3' }, as: secrets.at(-1) ?? '' });
    await run('endKey', ['key.end'], { ids: { id: keyId } });

    const guest = await SpecUser.create(plane);
    for (const _again of [1, 2]) {
      await run('invite', ['invitation.create'], { body: { email: guest.email, role: 'viewer' } });
      secrets.push(await tokenIn(plane, guest.email, 'invitation'));
    }
    await run('acceptInvitation', ['invitation.accept'], { body: { token: secrets.at(-1) }, as: guest });
    await run('changeRole', ['member.change-role'], { ids: { id: guest.id }, body: { role: 'billing' } });
    await run('leaveAccount', ['member.leave'], { as: guest });
    await guest.join(accountId, 'viewer');
    await run('removeMember', ['member.remove'], { ids: { id: guest.id } });
    const open = await run('invite', ['invitation.create'], { body: { email: 'x@example.com', role: 'viewer' } });
    secrets.push(await tokenIn(plane, 'x@example.com', 'invitation'));
    const invitation = OPERATIONS.invite.answer.parse(open.body).invitation.id;
    await run('withdrawInvitation', ['invitation.withdraw'], { ids: { id: invitation } });
    await joinAsNewUser();
    await run('exportAccount', ['account.export']);
    await run('deleteChannel', ['channel.delete'], { ids: { id } });
    await run('endAccount', ['account.end'], { body: { name: 'Acme 3' } });

    const changing = Object.entries<Operation>(OPERATIONS)
      .filter(([, { method, path }]) => method !== 'get' && !ELSEWHERE.test(path))
      .map(([name]) => name);
    expect(changing.filter((name) => !done.has(name))).toEqual([]);
    const { rows } = await plane.database.pool.query<object>('SELECT * FROM audit_log');
    const stored = JSON.stringify(rows);
    expect(secrets.length).toBeGreaterThan(7);
    expect(secrets.filter((secret) => stored.includes(secret))).toEqual([]);
    expect(secrets.filter((secret) => plane.logged.join('').includes(secret))).toEqual([]);
  });

  async function joinAsNewUser(): Promise<void> {
    await owner.call('POST', '/account/invitations', { email: 'new@example.com', role: 'viewer' });
    const token = await tokenIn(plane, 'new@example.com', 'invitation');
    const password = 'violet tractor sings 42';
    secrets.push(token, password);
    await run('joinAccount', ['invitation.accept'], { body: { token, name: 'New', password } });
  }

  it('has the attempt and the failure of what a region did not do', async () => {
    const { accountKey: key } = await plane.newAccount();
    const { body } = await plane.call(key, 'POST', '/api/v1/channels', { body: { name: 'Shop' } });
    const id = String(Reflect.get(Object(body['channel']), 'id'));
    await plane.database.pool.query("UPDATE channels SET region = 'eu' WHERE id = $1", [id]);
    const answer = await plane.call(key, 'PATCH', `/api/v1/channels/${id}`, { body: { name: 'Far' } });
    expect(answer.status).toBe(503);
    const entries = await entriesOf(answer.headers['x-request-id']);
    expect(entries).toMatchObject([
      { action: 'channel.rename', object_id: id },
      { action: 'channel.rename.failed', details: { status: 503 } },
    ]);
  });

  it('has no entry of what is repeated and changes nothing: a deletion is in it once', async () => {
    const { accountKey: key } = await plane.newAccount();
    const { body } = await plane.call(key, 'POST', '/api/v1/channels', { body: { name: 'Shop' } });
    const id = String(Reflect.get(Object(body['channel']), 'id'));
    await plane.database.pool.query("UPDATE channels SET region = 'eu' WHERE id = $1", [id]);
    for (const _again of [1, 2]) expect((await plane.call(key, 'DELETE', `/api/v1/channels/${id}`)).status).toBe(503);
    const { rows } = await plane.database.pool.query(
      "SELECT 1 FROM audit_log WHERE object_id = $1 AND action = 'channel.delete'",
      [id],
    );
    expect(rows).toHaveLength(1);
  });

  it('is read by the owner page by page, with filters that name the field when they are wrong', async () => {
    const reader = await SpecUser.create(plane);
    await reader.call('POST', '/accounts', { name: 'one' });
    for (const name of ['two', 'three']) await reader.call('PATCH', '/account', { name });
    const page = async (query: string) =>
      OPERATIONS.listAudit.answer.parse((await reader.call('GET', `/audit?${query}`)).body);
    const first = await page('count=2');
    expect(first.entries.map(({ details }) => details?.['name'])).toEqual(['three', 'two']);
    const second = await page(`count=2&cursor=${String(first.next)}`);
    expect([second.entries.map(({ action }) => action), second.next]).toEqual([['account.create'], undefined]);
    expect(second.entries[0]).toMatchObject({
      actor: { kind: 'user', id: reader.id, name: reader.email },
      address: '127.0.0.1',
    });
    expect((await page('action=account.rename')).entries).toHaveLength(2);
    expect((await page(`action=account&actor=${reader.id}`)).entries).toHaveLength(3);
    expect((await page('actor=key_none')).entries).toEqual([]);
    expect((await page(`from=${Math.floor(Date.now() / 1_000) + 60}`)).entries).toEqual([]);
    const wrong = await reader.call('GET', '/audit?from=yesterday');
    expect([wrong.status, detailsOf(wrong)]).toEqual([400, 'from: must be epoch seconds']);
  });

  it('is kept for 400 days', async () => {
    const { pool } = plane.database;
    const age = (days: number, action: string) =>
      pool.query(
        `INSERT INTO audit_log (at, actor_kind, actor_id, action) VALUES (now() - $1::int * interval '1 day', 'system', 'spec', $2)`,
        [days, action],
      );
    await age(AUDIT_KEPT_DAYS + 1, 'spec.old');
    await age(AUDIT_KEPT_DAYS - 1, 'spec.young');
    await new AuditRetention(plane.database).run();
    const { rows } = await pool.query("SELECT action FROM audit_log WHERE action LIKE 'spec.%'");
    expect(rows).toEqual([{ action: 'spec.young' }]);
  });
});

/** Gives a channel a webhook. @returns its id */
async function webhookOf(plane: RunningControlPlane, id: string): Promise<string> {
  const seals = new ChannelSeals({ currentId: 'spec', keys: new Map([['spec', Buffer.alloc(32, 7)]]) });
  const directory = new ChannelDirectory({ database: plane.regional, cacheMs: 0, seals });
  const events = [{ type: 'messages', method: 'post' }] as const;
  const update = await directory.updateSettings(id, {
    webhooks: [{ mode: 'body', events: [...events], url: 'https://hooks.test/in' }],
  });
  const [hook = ''] = webhookIds(update?.after ?? { webhooks: [] });
  return hook;
}
