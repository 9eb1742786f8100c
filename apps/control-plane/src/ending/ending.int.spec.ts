import { appendAudit } from '@dormouse/audit-log';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { openLog } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import { OPERATIONS } from '@dormouse/management-contract';
import { openCommandWorker } from '@dormouse/queues';
import { addKey, detailsOf, SpecUser } from '../accounts/test-members.js';
import { ChannelEntries } from '../channels/channel-entries.js';
import { Channels } from '../channels/channels.js';
import { TokenRotations } from '../channels/token-rotations.js';
import { DEFAULT_LIMITS } from '../management-limits.js';
import { RunningControlPlane, SHARD_COUNT } from '../test-control-plane.js';
import { EndedAccounts, type EndBilling } from './ended-accounts.js';

jest.setTimeout(120_000);

const NAME = 'Acme & Daughters';
const CAUSE = { actor: { kind: 'system', id: 'spec' } } as const;

describe('the end of an account', () => {
  let plane: RunningControlPlane;
  let directory: ChannelDirectory;
  let owner: SpecUser;
  let accountId: string;
  /** They end sessions of deleted channels at once. */
  let workers: ReturnType<typeof openCommandWorker>[];
  const log = openLog({ name: 'spec', level: 'silent' });
  const sql = async <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await plane.database.pool.query<Row>(text, values)).rows;
  const channel = async (): Promise<string> => {
    const { body } = await owner.call('POST', '/channels', { name: 'Shop of Ann' });
    return String(Reflect.get(Object(body['channel']), 'id'));
  };
  /** What does the steps, with databases and billing of its own. */
  const steps = ({
    database = plane.database,
    endBilling,
  }: { database?: GlobalDatabase; endBilling?: EndBilling } = {}) => {
    const entries = new ChannelEntries(database);
    const channels = new Channels({
      ...{ entries, rotations: new TokenRotations(database), regions: plane.regions, log, database },
      limits: DEFAULT_LIMITS,
    });
    return new EndedAccounts({ database, entries, channels, regions: plane.regions, log, endBilling });
  };
  const isErased = async (): Promise<boolean> => {
    const [row] = await sql<{ erased: boolean }>(
      'SELECT erased_at IS NOT NULL AS erased FROM accounts WHERE id = $1',
      accountId,
    );
    return row?.erased ?? false;
  };
  const markEnded = () => sql('UPDATE accounts SET deleted_at = now() WHERE id = $1', accountId);

  beforeAll(async () => {
    plane = await RunningControlPlane.open();
    directory = new ChannelDirectory({ database: plane.regional, cacheMs: 0 });
    workers = Array.from({ length: SHARD_COUNT }, (_each, shard) =>
      openCommandWorker({
        redisUrl: plane.redisUrl,
        shard,
        concurrency: 1,
        handle: () => Promise.resolve({ ok: true, result: { success: true } }),
        onError: () => undefined,
      }),
    );
  });
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.close()));
    await plane.close();
  });
  beforeEach(async () => {
    owner = await SpecUser.create(plane);
    accountId = String((await owner.call('POST', '/accounts', { name: NAME })).body['id']);
  });

  it('can be preceded by an export of everything but keys and tokens', async () => {
    const id = await channel();
    await plane.regional.pool.query("UPDATE channels SET phone = '15550001111' WHERE id = $1", [id]);
    await owner.call('POST', '/account/invitations', { email: 'bob@example.com', role: 'viewer' });
    const { secret } = OPERATIONS.createKey.answer.parse(
      (await owner.call('POST', '/account/keys', { name: 'CI', scopes: ['channels:read'] })).body,
    );
    const answer = await owner.call('GET', '/account/export');
    expect(answer.headers['content-disposition']).toBe(`attachment; filename="${accountId}.json"`);
    const exported = OPERATIONS.exportAccount.answer.parse(answer.body);
    expect(exported).toMatchObject({
      account: { id: accountId, name: NAME, role: 'owner' },
      members: [{ email: owner.email }],
      invitations: [{ email: 'bob@example.com' }],
      keys: [{ name: 'CI', scopes: ['channels:read'] }],
      channels: [{ id, name: 'Shop of Ann', phone: '15550001111', settings: { webhooks: [] } }],
    });
    expect(exported.audit.map(({ action }) => action)).toEqual([
      'account.export',
      'key.create',
      'invitation.create',
      'channel.create',
      'account.create',
    ]);
    expect(JSON.stringify(exported)).not.toContain(secret);
    expect(JSON.stringify(exported)).not.toMatch(/hash/i);
  });

  it('exports what a region that is away does not answer as incomplete', async () => {
    const id = await channel();
    await sql("UPDATE channels SET region = 'eu' WHERE id = $1", id);
    const { channels } = OPERATIONS.exportAccount.answer.parse((await owner.call('GET', '/account/export')).body);
    expect(channels).toEqual([expect.objectContaining({ id, incomplete: true })]);
    await sql("UPDATE channels SET region = 'sg' WHERE id = $1", id);
  });

  it('needs the name of the account, exactly', async () => {
    for (const name of ['acme & daughters', `${NAME} `, '']) {
      const refused = await owner.call('DELETE', '/account', { name });
      expect([refused.status, detailsOf(refused)]).toEqual([400, expect.stringMatching(/^name: must be the name/)]);
    }
    expect((await owner.call('GET', '/account')).status).toBe(200);
  });

  it('closes it at once, deletes its channels, erases who was in it, and keeps the log without names', async () => {
    const id = await channel();
    await plane.regional.pool.query(
      `UPDATE channels SET phone = '15550001111', lid = '77', push_name = 'Ann', settings = '{"proxy": "ann.test"}' WHERE id = $1`,
      [id],
    );
    const key = await addKey(plane, accountId);
    const guest = await (await SpecUser.create(plane)).join(accountId, 'viewer');
    const { accountId: elsewhere } = await plane.newAccount();
    await guest.join(elsewhere, 'viewer');
    await owner.call('PATCH', '/account', { name: NAME });
    expect((await owner.call('DELETE', '/account', { name: NAME })).status).toBe(204);
    expect((await plane.call(key, 'GET', '/api/v1/channels')).status).toBe(401);
    expect([401, 403]).toContain((await owner.call('GET', '/channels')).status);
    expect((await guest.call('GET', '/account')).body).toMatchObject({ id: elsewhere });
    // The server has begun by itself; what it has under way is waited for.
    await plane.app.get(EndedAccounts).stop();
    expect([await isErased(), (await directory.byId(id))?.deleted]).toEqual([true, true]);
    expect((await owner.call('GET', '/accounts')).status).toBe(401);
    expect((await guest.call('GET', '/accounts')).status).toBe(200);
    const left = [
      await sql('SELECT * FROM accounts WHERE id = $1', accountId),
      await sql('SELECT * FROM channels WHERE account_id = $1', accountId),
      await sql('SELECT * FROM audit_log WHERE account_id = $1 OR actor_id = $2', accountId, owner.id),
      await sql('SELECT * FROM users WHERE id = $1', owner.id),
      await sql('SELECT * FROM account_keys WHERE account_id = $1', accountId),
      await sql('SELECT * FROM memberships WHERE account_id = $1', accountId),
    ];
    const inRegion = await plane.regional.pool.query('SELECT * FROM channels WHERE account_id = $1', [accountId]);
    expect(inRegion.rows).toHaveLength(1);
    expect(JSON.stringify([left, inRegion.rows])).not.toMatch(/Acme|Ann|@|127\.0\.0\.1|15550001111|ann\.test|"77"/);
    const kept = await sql<{ action: string; actor_id: string }>(
      'SELECT action, actor_id FROM audit_log WHERE account_id = $1 ORDER BY id',
      accountId,
    );
    expect(kept.map(({ action }) => action)).toEqual([
      'account.create',
      'channel.create',
      'account.rename',
      'account.end',
      'channel.delete',
    ]);
    expect(kept[0]?.actor_id).toBe(owner.id);
  });

  it('waits for the channels of a region that is away, and is completed when it is back', async () => {
    const id = await channel();
    await sql("UPDATE channels SET region = 'eu' WHERE id = $1", id);
    await markEnded();
    await steps().settle();
    expect(await isErased()).toBe(false);
    await sql("UPDATE channels SET region = 'sg' WHERE id = $1", id);
    await plane.settleNow();
    await steps().settle();
    expect([await isErased(), (await directory.byId(id))?.deleted]).toEqual([true, true]);
  });

  it('waits for the subscription to be cancelled before anything is erased', async () => {
    await markEnded();
    const ended: string[] = [];
    await steps({ endBilling: () => Promise.reject(new Error('Stripe is away')) }).settle();
    expect(await isErased()).toBe(false);
    await steps({ endBilling: (id) => Promise.resolve(void ended.push(id)) }).settle();
    expect([await isErased(), ended.filter((id) => id === accountId)]).toEqual([true, [accountId]]);
  });

  it('creates no channel for a request that passed before', async () => {
    await markEnded();
    const begun = new ChannelEntries(plane.database).begin(
      { accountId, region: 'sg', name: 'Late' },
      { channelsPerAccount: 10, channelsPerHalfHour: 0 },
    );
    await expect(begun).rejects.toMatchObject({ status: 404 });
    await steps().settle();
  });

  it('is completed by the next run after a process that died at any of its statements', async () => {
    let deaths = 0;
    for (let endsAt = 1; ; endsAt += 1) {
      const user = await SpecUser.create(plane);
      owner = user;
      accountId = String((await user.call('POST', '/accounts', { name: NAME })).body['id']);
      await channel();
      await appendAudit(plane.database.pool, { ...CAUSE, accountId, action: 'spec.note', details: { note: 'of Ann' } });
      await markEnded();
      const life = { left: endsAt };
      await steps({ database: mortal(plane.database, life) }).settle();
      const isDead = life.left <= 0;
      await plane.settleNow();
      await steps().settle();
      const log = await sql('SELECT * FROM audit_log WHERE account_id = $1', accountId);
      const live = await sql('SELECT id FROM channels WHERE account_id = $1 AND deleted_at IS NULL', accountId);
      expect([endsAt, await isErased(), live, JSON.stringify(log).includes('Ann')]).toEqual([endsAt, true, [], false]);
      if (!isDead) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThan(10);
  });
});

/** The database as a process reaches it that dies before one of its statements. */
function mortal(database: GlobalDatabase, life: { left: number }): GlobalDatabase {
  const spend = (): void => {
    if (life.left > 0) life.left -= 1;
    if (life.left <= 0) throw new Error('the process died');
  };
  const within = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name);
        if (typeof value !== 'function') return value;
        if (name === 'query') {
          return async (...given: unknown[]) => {
            spend();
            return (await Reflect.apply(value, of, given)) as unknown;
          };
        }
        if (name === 'connect') return async () => within((await Reflect.apply(value, of, [])) as object);
        return value.bind(of) as unknown;
      },
    });
  return { ...database, pool: within(database.pool) };
}
