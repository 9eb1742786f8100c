import { openGlobalDatabase, transaction, type GlobalDatabase } from '@dormouse/database';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import {
  claimMail,
  delayMail,
  deleteMailOlderThan,
  divideMail,
  endMail,
  enqueueMail,
  mailFigures,
  type ClaimedMail,
  type Mail,
} from './index.js';

const CLAIM_MS = 60_000;
const DAY_MS = 86_400_000;

describe('the outbox of mail', () => {
  let store: TestStore;
  let database: GlobalDatabase;

  beforeAll(async () => {
    store = await createTestDatabase('global');
    database = openGlobalDatabase({ url: store.url, applicationName: 'mail-outbox-spec' });
  });
  beforeEach(async () => {
    await database.pool.query('DELETE FROM mail_outbox');
  });
  afterAll(async () => {
    await database.close();
    await store.drop();
  });

  const invitation = (reason: string, to: Mail['to'] = { address: 'bob@example.com', name: 'Bob' }): Mail => ({
    kind: 'invitation',
    reason,
    to,
    data: { link: 'https://a.test/i', accountName: 'Acme', invitedBy: 'Ann', role: 'viewer', validForDays: 7 },
  });
  const claim = (limit = 10): Promise<ClaimedMail[]> => claimMail(database.pool, limit, CLAIM_MS);
  const claimOne = async (): Promise<ClaimedMail> => {
    const [mail] = await claim(1);
    if (!mail) throw new Error('no mail is due');
    return mail;
  };
  const passed = (ms: number): Promise<unknown> =>
    database.pool.query(
      `UPDATE mail_outbox SET created_at = created_at - $1 * interval '1 millisecond',
         next_attempt_at = next_attempt_at - $1 * interval '1 millisecond',
         ended_at = ended_at - $1 * interval '1 millisecond'`,
      [ms],
    );
  const rows = async (): Promise<Record<string, unknown>[]> =>
    (await database.pool.query<Record<string, unknown>>('SELECT * FROM mail_outbox ORDER BY created_at, reason')).rows;

  it('stores one mail for a reason, however often and by how many it is stored', async () => {
    const stored = await Promise.all([1, 2, 3, 4].map(() => enqueueMail(database.pool, invitation('invitation:1'))));
    expect(stored.filter(Boolean)).toHaveLength(1);
    expect(await claim()).toHaveLength(1);
  });

  it('holds no mail of a transaction that was rolled back', async () => {
    const work = transaction(database, async (connection) => {
      await enqueueMail(connection, invitation('invitation:1'));
      throw new Error('something else failed');
    });
    await expect(work).rejects.toThrow('something else failed');
    expect(await claim()).toEqual([]);
  });

  it('gives a mail back as it was stored, to each kind of recipient', async () => {
    const recipients: Mail['to'][] = [
      { address: 'bob@example.com', name: 'Bob' },
      { address: 'cy@example.com' },
      { userId: 'usr_1' },
      { accountId: 'acc_1', audience: 'billing' },
    ];
    const mails = recipients.map((to, index) => invitation(`invitation:${index}`, to));
    for (const mail of mails) await enqueueMail(database.pool, mail);
    const claimed = await claim();
    expect(claimed.sort((a, b) => a.reason.localeCompare(b.reason))).toEqual(
      mails.map((mail) => ({ ...mail, id: expect.any(String), attempts: 1, ageMs: expect.any(Number) })),
    );
  });

  it('stores text that PostgreSQL would refuse', async () => {
    await enqueueMail(database.pool, invitation('invitation:\0', { address: 'bob@example.com', name: 'B\0b\ud800' }));
    expect(await claimOne()).toMatchObject({ to: { name: 'B\ufffdb\ufffd' } });
  });

  it('gives each mail to one process, and to another only once the claim has ended', async () => {
    for (let index = 0; index < 20; index += 1) await enqueueMail(database.pool, invitation(`invitation:${index}`));
    const claims = await Promise.all([claim(7), claim(7), claim(7), claim(7)]);
    const ids = claims.flat().map(({ id }) => id);
    expect(ids).toHaveLength(20);
    expect(new Set(ids).size).toBe(20);
    expect(await claim()).toEqual([]);
    await passed(CLAIM_MS);
    const again = await claim(20);
    expect(again.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(again.every(({ attempts }) => attempts === 2)).toBe(true);
  });

  it('sends nothing again for a reason that has ended, and keeps neither text nor address of it', async () => {
    await enqueueMail(database.pool, invitation('invitation:1'));
    await endMail(database.pool, await claimOne(), 'sent');
    expect(await enqueueMail(database.pool, invitation('invitation:1'))).toBe(false);
    await passed(DAY_MS);
    expect(await claim()).toEqual([]);
    const kept = await rows();
    expect(kept).toMatchObject([{ outcome: 'sent', data: {}, to_address: null, to_name: null }]);
    expect(JSON.stringify(kept)).not.toMatch(/a\.test|bob|Bob/);
  });

  it('has a delayed mail due after its pause and not before', async () => {
    await enqueueMail(database.pool, invitation('invitation:1'));
    await delayMail(database.pool, await claimOne(), 30_000, '421 try later');
    await passed(29_000);
    expect(await claim()).toEqual([]);
    await passed(1_000);
    expect(await claimOne()).toMatchObject({ attempts: 2 });
    expect(await rows()).toMatchObject([{ last_error: '421 try later' }]);
  });

  it('does not let a process whose claim has ended delay what another one holds', async () => {
    await enqueueMail(database.pool, invitation('invitation:1'));
    const first = await claimOne();
    await passed(CLAIM_MS);
    await claimOne();
    await delayMail(database.pool, first, 0, 'too late');
    expect(await claim()).toEqual([]);
  });

  it('replaces a mail to an audience by one for each user, as old as it was, and once', async () => {
    await enqueueMail(database.pool, invitation('numbers-stopped:1', { accountId: 'acc_1', audience: 'owners' }));
    await passed(3_600_000);
    const mail = await claimOne();
    await divideMail(database.pool, mail, ['usr_1', 'usr_2']);
    await divideMail(database.pool, mail, ['usr_1', 'usr_2', 'usr_3']);
    const divided = await claim();
    expect(divided.map(({ to }) => to).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual([
      { userId: 'usr_1' },
      { userId: 'usr_2' },
    ]);
    for (const one of divided) {
      expect(one.data).toEqual(invitation('').data);
      expect(one.ageMs).toBeGreaterThanOrEqual(3_600_000);
    }
  });

  it('counts what waits, and deletes what ended long ago alone', async () => {
    await enqueueMail(database.pool, invitation('invitation:1'));
    await enqueueMail(database.pool, invitation('invitation:2'));
    await passed(60_000);
    expect(await mailFigures(database.pool)).toMatchObject({ waiting: 2 });
    expect((await mailFigures(database.pool)).oldest_age_s).toBeGreaterThanOrEqual(60);
    await endMail(database.pool, await claimOne(), 'refused', '550 no such mailbox');
    expect(await deleteMailOlderThan(database.pool, DAY_MS)).toBe(0);
    await passed(DAY_MS + 1_000);
    expect(await deleteMailOlderThan(database.pool, DAY_MS)).toBe(1);
    expect(await mailFigures(database.pool)).toMatchObject({ waiting: 1 });
  });
});
