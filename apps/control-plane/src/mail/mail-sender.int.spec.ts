import { openLog } from '@dormouse/bootstrap';
import { openGlobalDatabase, type GlobalDatabase } from '@dormouse/database';
import { enqueueMail, type Mail } from '@dormouse/mail-outbox';
import { startMailbox, type Mailbox } from '@dormouse/mailbox';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { MailSender, pauseAfter, type AttemptOutcome } from './mail-sender.js';
import type { Recipients } from './recipients.js';
import { openSmtp, type MailAddress, type MailTransport } from './smtp-transport.js';

const FROM = { address: 'no-reply@example.com', name: 'Dormouse' };
const DAY_MS = 86_400_000;

interface Row {
  outcome: string | null;
  attempts: number;
  last_error: string | null;
}

describe('the sender of mail', () => {
  let store: TestStore;
  let database: GlobalDatabase;
  let mailbox: Mailbox;
  let transport: MailTransport;
  const users = new Map<string, MailAddress>();
  const members = new Map<string, string[]>();
  const recipients: Recipients = {
    addressOf: (userId) => Promise.resolve(users.get(userId)),
    usersOf: (accountId, audience) => Promise.resolve(members.get(`${accountId} ${audience}`) ?? []),
    operators: () => Promise.resolve([]),
  };
  const outcomes: AttemptOutcome[] = [];
  const logged: string[] = [];

  beforeAll(async () => {
    [store, mailbox] = await Promise.all([createTestDatabase('global'), startMailbox()]);
    database = openGlobalDatabase({ url: store.url, applicationName: 'mail-sender-spec' });
    transport = openSmtp({ url: mailbox.smtpUrl, from: FROM });
  });
  beforeEach(async () => {
    await database.pool.query('DELETE FROM mail_outbox');
    mailbox.remove();
    mailbox.work();
    for (const list of [outcomes, logged]) list.length = 0;
    for (const map of [users, members]) map.clear();
  });
  afterAll(async () => {
    transport.close();
    await mailbox.stop();
    await database.close();
    await store.drop();
  });

  const sender = (through: MailTransport | undefined = transport): MailSender =>
    new MailSender({
      database,
      recipients,
      transport: through,
      from: FROM,
      log: openLog({ name: 'spec', destination: { write: (line) => void logged.push(line) } }),
      onOutcome: (outcome) => outcomes.push(outcome),
    });
  const stopped = (reason: string, to: Mail['to'] = { address: 'bob@example.com' }): Mail => ({
    kind: 'numbers-stopped',
    reason,
    to,
    data: { numbers: 2, invoiceLink: 'https://pay.example.com/secret-link' },
  });
  const enqueue = (mail: Mail): Promise<boolean> => enqueueMail(database.pool, mail);
  /** Has so much time pass for what waits. */
  const passed = (ms: number): Promise<unknown> =>
    database.pool.query(
      `UPDATE mail_outbox SET created_at = created_at - $1 * interval '1 millisecond',
         next_attempt_at = next_attempt_at - $1 * interval '1 millisecond'`,
      [ms],
    );
  const rows = async (): Promise<Row[]> =>
    (
      await database.pool.query<Row>(
        'SELECT outcome, attempts, last_error FROM mail_outbox ORDER BY created_at, reason',
      )
    ).rows;

  it('sends what is due once, however many senders look and how often', async () => {
    for (let index = 0; index < 12; index += 1) await enqueue(stopped(`numbers-stopped:${index}`));
    await Promise.all([sender().sendDue(), sender().sendDue(), sender().sendDue()]);
    await sender().sendDue();
    expect(mailbox.list()).toHaveLength(12);
    expect(new Set(mailbox.list().map(({ messageId }) => messageId)).size).toBe(12);
    expect(outcomes).toEqual(Array.from({ length: 12 }, () => 'sent'));
    await enqueue(stopped('numbers-stopped:3'));
    await sender().sendDue();
    expect(mailbox.list()).toHaveLength(12);
  });

  it('writes to each user of an audience alone, at the address that they have when it is sent', async () => {
    users.set('usr_ann', { address: 'old@example.com', name: 'Ann' });
    users.set('usr_bob', { address: 'bob@example.com', name: 'Bob' });
    members.set('acc_1 billing', ['usr_ann', 'usr_bob', 'usr_gone']);
    await enqueue(stopped('numbers-stopped:1', { accountId: 'acc_1', audience: 'billing' }));
    users.set('usr_ann', { address: 'new@example.com', name: 'Ann' });
    await sender().sendDue();
    const reached = mailbox.list().map(({ envelope }) => envelope.to);
    expect(reached.sort()).toEqual([['bob@example.com'], ['new@example.com']]);
    expect(mailbox.list({ to: 'new@example.com' })[0]?.to).toBe('"Ann" <new@example.com>');
    expect(outcomes.sort()).toEqual(['divided', 'nobody', 'sent', 'sent']);
  });

  it('ends mail to nobody', async () => {
    await enqueue(stopped('numbers-stopped:1', { accountId: 'acc_none', audience: 'owners' }));
    await enqueue(stopped('numbers-stopped:2', { userId: 'usr_none' }));
    await sender().sendDue();
    expect(outcomes).toEqual(['nobody', 'nobody']);
    expect(mailbox.list()).toEqual([]);
  });

  it('tries for a day, with growing pauses, and no longer', async () => {
    mailbox.fail({ kind: 'refuse', at: 'message', code: 451 });
    await enqueue(stopped('numbers-stopped:1'));
    const pausesMs: number[] = [];
    for (let attempts = 1; !outcomes.includes('expired'); attempts += 1) {
      await sender().sendDue();
      pausesMs.push(pauseAfter(attempts));
      await passed(pauseAfter(attempts) - 1_000);
      const before = outcomes.length;
      await sender().sendDue();
      expect(outcomes).toHaveLength(before);
      await passed(1_000);
    }
    expect(pausesMs.slice(0, 9)).toEqual([30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600].map((s) => s * 1_000));
    const triedMs = pausesMs.slice(0, -1).reduce((sum, pauseMs) => sum + pauseMs, 0);
    expect(triedMs).toBeLessThanOrEqual(DAY_MS);
    expect(triedMs).toBeGreaterThan(DAY_MS - 3_600_000);
    expect(await rows()).toMatchObject([{ outcome: 'expired', last_error: expect.stringContaining('451') }]);
    mailbox.work();
    await passed(DAY_MS);
    await sender().sendDue();
    expect(mailbox.list()).toEqual([]);
  });

  it('sends it when the server is back', async () => {
    mailbox.fail({ kind: 'away' });
    await enqueue(stopped('numbers-stopped:1'));
    await sender().sendDue();
    expect(outcomes).toEqual(['delayed']);
    mailbox.work();
    await passed(pauseAfter(1));
    await sender().sendDue();
    expect(outcomes).toEqual(['delayed', 'sent']);
    expect(mailbox.list()).toHaveLength(1);
  });

  it('keeps mail while there is no server at all, and sends it once there is one', async () => {
    await enqueue(stopped('numbers-stopped:1'));
    await new MailSender({
      database,
      recipients,
      from: FROM,
      log: openLog({ name: 'spec', level: 'silent' }),
    }).sendDue();
    expect(await rows()).toMatchObject([{ outcome: null, last_error: 'SMTP_URL is not set' }]);
    await passed(pauseAfter(1));
    await sender().sendDue();
    expect(mailbox.list()).toHaveLength(1);
  });

  it('ends at once what is refused for good, and the others are sent', async () => {
    mailbox.fail({ kind: 'refuse', at: 'recipient', code: 550, to: 'eve@example.com' });
    await enqueue(stopped('numbers-stopped:1', { address: 'eve@example.com' }));
    await enqueue(stopped('numbers-stopped:2'));
    await sender().sendDue();
    expect(outcomes.sort()).toEqual(['refused', 'sent']);
    expect((await rows())[0]).toMatchObject({ outcome: 'refused', last_error: expect.stringContaining('550') });
  });

  it('sends a mail again under the same Message-ID when the connection ends with the answer', async () => {
    mailbox.fail({ kind: 'cut', times: 1 });
    await enqueue(stopped('numbers-stopped:1'));
    await sender().sendDue();
    await passed(pauseAfter(1));
    await sender().sendDue();
    const ids = mailbox.list().map(({ messageId }) => messageId);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it('sends what a process had claimed that died, and not while it may still be at it', async () => {
    await enqueue(stopped('numbers-stopped:1'));
    const dying: MailTransport = { send: () => new Promise(() => undefined), close: () => undefined };
    void sender(dying).sendDue();
    const claimed = async (): Promise<boolean> => (await rows())[0]?.attempts === 1;
    while (!(await claimed()));
    await passed(60_000);
    await sender().sendDue();
    expect(mailbox.list()).toEqual([]);
    await passed(60_000);
    await sender().sendDue();
    expect(mailbox.list()).toHaveLength(1);
  });

  it('does not send what is older than a day, such as a warning from before a long absence', async () => {
    await enqueue(stopped('numbers-stopped:1'));
    await passed(DAY_MS + 1_000);
    await sender().sendDue();
    expect(outcomes).toEqual(['expired']);
    expect(mailbox.list()).toEqual([]);
  });

  it('claims nothing more once it stops', async () => {
    await enqueue(stopped('numbers-stopped:1'));
    const ending = sender();
    ending.stop();
    await ending.sendDue();
    expect(mailbox.list()).toEqual([]);
  });

  it('logs no address, no name and no link', async () => {
    mailbox.fail({ kind: 'refuse', at: 'recipient', code: 550, to: 'eve@example.com' });
    users.set('usr_ann', { address: 'ann@example.com', name: 'Ann Example' });
    await enqueue(stopped('numbers-stopped:1', { address: 'eve@example.com' }));
    await enqueue(stopped('numbers-stopped:2', { userId: 'usr_ann' }));
    await sender().sendDue();
    expect(logged).toHaveLength(2);
    expect(logged.join('')).not.toMatch(/@example\.com|Ann Example|secret-link/);
  });
});
