import { appendAudit } from '@dormouse/audit-log';
import { openLog, Probes } from '@dormouse/bootstrap';
import { closeRedis, openRedis } from '@dormouse/redis';
import { AUDIT_KEPT_DAYS, AuditRetention } from '../audit/audit-retention.js';
import { createApp } from '../control-plane.js';
import { MemberRecipients } from '../mail/member-recipients.js';
import { OperatorKeys } from '../operators/operator-keys.js';
import { Regions } from '../regions/regions.js';
import { RunningControlPlane } from '../test-control-plane.js';
import { holdLocks, lockWaiters } from '../test-locks.js';
import { StaleUsers, UNCONFIRMED_KEPT_DAYS } from '../users/stale-users.js';

jest.setTimeout(60_000);

const log = openLog({ name: 'spec', level: 'silent' });

/** Resolves when a run of the job ends. */
function firstRunOf(job: { prototype: { run: () => Promise<void> } }): Promise<void> {
  const { run } = job.prototype;
  return new Promise((resolve, reject) => {
    jest.spyOn(job.prototype, 'run').mockImplementation(function (this: unknown) {
      return run.call(this).then(resolve, reject);
    });
  });
}

describe('what is kept no longer', () => {
  let plane: RunningControlPlane;
  beforeAll(async () => {
    plane = await RunningControlPlane.open();
  });
  afterAll(() => plane.close());
  afterEach(() => void jest.restoreAllMocks());

  const query = (text: string, values: unknown[] = []) => plane.database.pool.query<{ id: string }>(text, values);
  const idsOf = async (table: string) => (await query(`SELECT id FROM ${table} ORDER BY id`)).rows.map(({ id }) => id);
  const addUser = (id: string, isVerified: boolean, ageDays: number) =>
    query(
      `INSERT INTO users (id, name, email, email_verified, created_at)
       VALUES ($1, $1, $1 || '@example.com', $2, now() - make_interval(days => $3))`,
      [id, isVerified, ageDays],
    );

  it('is deleted by jobs: sign-ups that nobody confirmed, ended sessions and links, old entries of the audit log', async () => {
    const { accountId } = await plane.newAccount();
    await addUser('confirmed', true, 100);
    await addUser('member', false, 100);
    await query(`INSERT INTO memberships (account_id, user_id, role) VALUES ($1, 'member', 'viewer')`, [accountId]);
    await addUser('new', false, UNCONFIRMED_KEPT_DAYS - 1);
    await addUser('old', false, UNCONFIRMED_KEPT_DAYS + 1);
    await query(
      `INSERT INTO user_sessions (id, user_id, token, expires_at) VALUES
         ('ended', 'confirmed', 'a', now() - interval '1 second'), ('open', 'confirmed', 'b', now() + interval '1 day')`,
    );
    await query(
      `INSERT INTO user_verifications (id, identifier, value, expires_at) VALUES
         ('ended', 'a', '', now() - interval '1 second'), ('waits', 'b', '', now() + interval '1 day')`,
    );
    const entry = { accountId, actor: { kind: 'system', id: 'spec' } } as const;
    await appendAudit(plane.database.pool, { ...entry, action: 'old' });
    await query('UPDATE audit_log SET at = now() - make_interval(days => $1)', [AUDIT_KEPT_DAYS + 1]);
    await appendAudit(plane.database.pool, { ...entry, action: 'new' });

    const runs = Promise.all([AuditRetention, StaleUsers].map(firstRunOf));
    const { database } = plane;
    const redis = openRedis({ url: plane.redisUrl, name: 'retention-spec' });
    const regions = new Regions(new Map(), log);
    const probes = new Probes({ app: 'control-plane', checks: {} });
    const from = { address: 'no-reply@example.com', name: 'Dormouse' };
    const mail = { from, recipients: new MemberRecipients(database), metrics: probes.metrics };
    const services = { database, regions, operators: new OperatorKeys(new Map()), jobs: { redis, mail }, log };
    const app = await createApp(services, {
      site: { docsUrl: 'https://docs.test', supportAddress: 'help@test' },
      probes,
    });
    try {
      await app.init();
      await runs;
    } finally {
      await app.close();
      await closeRedis(redis);
      await regions.close();
    }
    expect(await idsOf('users')).toEqual(['confirmed', 'member', 'new']);
    expect(await idsOf('user_sessions')).toEqual(['open']);
    expect(await idsOf('user_verifications')).toEqual(['waits']);
    const { rows } = await query('SELECT action FROM audit_log');
    expect(rows).toEqual([{ action: 'new' }]);
  });

  it('is not a sign-up that is confirmed while it is deleted', async () => {
    await addUser('late', false, UNCONFIRMED_KEPT_DAYS + 1);
    const confirm = `UPDATE users SET email_verified = true WHERE id = $1`;
    const { release } = await holdLocks(plane.database, confirm, ['late']);
    const deleted = new StaleUsers(plane.database).run();
    await lockWaiters(plane.database, 1);
    await release();
    await deleted;
    expect(await idsOf('users')).toContain('late');
  });
});
