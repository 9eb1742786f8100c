import { setTimeout as delay } from 'node:timers/promises';
import { openLog, Probes } from '@dormouse/bootstrap';
import { webhookIds } from '@dormouse/channel-directory';
import { enqueueMail, type Mail } from '@dormouse/mail-outbox';
import { startMailbox, type Mailbox } from '@dormouse/mailbox';
import { closeRedis, openRedis } from '@dormouse/redis';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApp } from '../control-plane.js';
import { OperatorKeys } from '../operators/operator-keys.js';
import { Regions } from '../regions/regions.js';
import { RunningControlPlane } from '../test-control-plane.js';
import { MemberRecipients } from './member-recipients.js';
import { RegionMails } from './region-mails.js';
import { openSmtp } from './smtp-transport.js';

const FROM = { address: 'no-reply@example.com', name: 'Dormouse' };
const SITE = { docsUrl: 'https://docs.test', supportAddress: 'help@test' };
const log = openLog({ name: 'spec', level: 'silent' });

interface Stored {
  kind: string;
  data: unknown;
  to_account_id: string;
}

describe('mail of the control plane', () => {
  let plane: RunningControlPlane;
  let mailbox: Mailbox;
  let accountId: string;
  const closes: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    [plane, mailbox] = await Promise.all([RunningControlPlane.open(), startMailbox()]);
    ({ accountId } = await plane.newAccount());
    for (const [id, role] of [
      ['ann', 'owner'],
      ['bob', 'billing'],
      ['cy', 'developer'],
    ] as const) {
      await plane.database.prisma.user.create({ data: { id, name: id, email: `${id}@example.com` } });
      await plane.database.prisma.membership.create({ data: { accountId, userId: id, role } });
    }
  });
  beforeEach(async () => {
    mailbox.remove();
    await plane.database.pool.query('DELETE FROM mail_outbox');
    await plane.regional.pool.query('TRUNCATE channels, webhook_cursors, event_sequences, events, webhook_held_events');
  });
  afterEach(async () => {
    for (const close of closes.splice(0)) await close();
  });
  afterAll(async () => {
    await mailbox.stop();
    await plane.close();
  });

  const mail = (reason: string, to: Mail['to']): Mail => ({
    kind: 'served-again',
    reason,
    to,
    data: { numbers: 1 },
  });
  const region = (sql: string, values: unknown[] = []): Promise<unknown> => plane.regional.pool.query(sql, values);

  /** A control plane that sends mail. */
  const sending = async (redisUrl = plane.redisUrl): Promise<NestFastifyApplication> => {
    const { database } = plane;
    const transport = openSmtp({ url: mailbox.smtpUrl, from: FROM });
    const redis = openRedis({ url: redisUrl, name: 'mail-spec' });
    const regions = new Regions(new Map(), log);
    const probes = new Probes({ app: 'control-plane', checks: {} });
    const recipients = new MemberRecipients(database);
    const jobs = { redis, mail: { transport, from: FROM, recipients, metrics: probes.metrics } };
    const services = { database, regions, operators: new OperatorKeys(new Map()), jobs, log };
    const app = await createApp(services, { site: SITE, probes });
    await app.init();
    closes.push(async () => {
      await app.close();
      transport.close();
      await closeRedis(redis);
      await regions.close();
    });
    return app;
  };

  it('sends what is stored, by however many processes once, to those whom the audience is made of', async () => {
    await Promise.all([sending(), sending()]);
    await enqueueMail(plane.database.pool, mail('a:1', { accountId, audience: 'billing' }));
    await enqueueMail(plane.database.pool, mail('a:2', { accountId, audience: 'owners' }));
    await Promise.all(['ann', 'bob'].map((id) => mailbox.next({ to: `${id}@example.com` })));
    const first = await mailbox.next({ to: 'ann@example.com' });
    await mailbox.next({ to: 'ann@example.com', after: first.id });
    await delay(1_500); // a turn of each process in which nothing is due
    expect(
      mailbox
        .list()
        .map(({ envelope }) => envelope.to)
        .flat()
        .sort(),
    ).toEqual(['ann@example.com', 'ann@example.com', 'bob@example.com']);
  });

  it('reaches every operator, and nobody else', async () => {
    await sending();
    await plane.database.prisma.user.update({ where: { id: 'cy' }, data: { isOperator: true } });
    const data = { accountId, subscription: 'sub_2' };
    await enqueueMail(plane.database.pool, {
      ...{ kind: 'second-subscription', to: { audience: 'operators' }, reason: 'second-subscription:sub_2', data },
    });
    expect((await mailbox.next({ to: 'cy@example.com' })).text).toContain('sub_2');
    expect(mailbox.list()).toHaveLength(1);
  });

  it('goes on after Redis was flushed, with nothing lost', async () => {
    await sending();
    await enqueueMail(plane.database.pool, mail('b:1', { userId: 'ann' }));
    await mailbox.next({ to: 'ann@example.com' });
    const redis = openRedis({ url: plane.redisUrl, name: 'mail-spec:flush' });
    await redis.flushdb();
    await closeRedis(redis);
    await enqueueMail(plane.database.pool, mail('b:2', { userId: 'bob' }));
    await mailbox.next({ to: 'bob@example.com' });
  });

  it('waits while Redis is away, which keeps no process from ending', async () => {
    await sending('redis://127.0.0.1:9');
    for (const close of closes.splice(0)) await expect(close()).resolves.toBeUndefined();
  });

  const looking = (): RegionMails => new RegionMails(plane.database, plane.regions, log);
  const stored = async (): Promise<Stored[]> =>
    (await plane.database.pool.query<Stored>('SELECT kind, data, to_account_id FROM mail_outbox ORDER BY reason')).rows;
  const channel = (id: string, fields: { reason?: string; linked?: boolean; ago?: string; settings?: object } = {}) =>
    region(
      `INSERT INTO channels (id, account_id, name, shard, session_reason, linked, session_since, settings)
       VALUES ($1, $2, $3, 0, $4, $5, now() - $6::interval, $7)`,
      [
        id,
        accountId,
        `Name of ${id}`,
        fields.reason ?? null,
        fields.linked ?? false,
        fields.ago ?? '1 minute',
        fields.settings ?? {},
      ],
    );

  it('notifies the owners of a number unlinked on its phone, once for each time', async () => {
    await channel('UNLINKED', { reason: 'unlinked' });
    await channel('LOGGED-OUT');
    await channel('LINKED', { reason: 'unlinked', linked: true });
    await channel('LONG-AGO', { reason: 'unlinked', ago: '25 hours' });
    await Promise.all([looking().look(), looking().look()]);
    await looking().look();
    const unlinked = {
      kind: 'number-unlinked',
      to_account_id: accountId,
      data: { channelId: 'UNLINKED', channelName: 'Name of UNLINKED', at: expect.any(String) },
    };
    expect(await stored()).toEqual([unlinked]);
    await region(`UPDATE channels SET session_since = now() WHERE id = 'UNLINKED'`);
    await looking().look();
    expect(await stored()).toEqual([unlinked, unlinked]);
  });

  it('finds all of many numbers', async () => {
    await region(
      `INSERT INTO channels (id, account_id, name, shard, session_reason)
       SELECT 'C' || n, $1, 'many', 0, 'unlinked' FROM generate_series(1, 450) n`,
      [accountId],
    );
    await looking().look();
    expect(await stored()).toHaveLength(450);
  });

  /** A webhook of a channel that failed, with one event for it; ages as intervals. */
  const failing = async (id: string, { accepted, event }: { accepted: string; event: string }): Promise<void> => {
    const url = `https://user:secret@hook.example.com/secret-path?key=secret`;
    await channel(id, { settings: { webhooks: [{ url, mode: 'body', events: [], headers: {} }] } });
    await region('INSERT INTO event_sequences (channel_id, last_seq) VALUES ($1, 1)', [id]);
    await region(
      `INSERT INTO events (channel_id, seq, id, type, method, payload, created_at)
       VALUES ($1, 1, gen_random_uuid(), 'messages', 'post', '{}', now() - $2::interval)`,
      [id, event],
    );
    await region(
      `INSERT INTO webhook_cursors (channel_id, webhook_id, position, attempts, paused, next_attempt_at, last_error, accepted_at, since)
       VALUES ($1, $2, 0, 3, true, now() + interval '5 minutes', 'HTTP 500', now() - $3::interval, now() - interval '9 days')`,
      [id, webhookIds({ webhooks: [{ url }] })[0], accepted],
    );
  };

  it('notifies the owners of a webhook that has accepted nothing for an hour, once until it accepts something', async () => {
    await failing('FAILS', { accepted: '2 hours', event: '61 minutes' });
    await failing('FAILS-SHORTLY', { accepted: '2 hours', event: '59 minutes' });
    await failing('ACCEPTS-OTHERS', { accepted: '10 minutes', event: '2 hours' });
    await failing('FAILS-FOR-DAYS', { accepted: '3 days', event: '3 days' });
    await looking().look();
    await looking().look();
    expect(await stored()).toEqual([
      {
        kind: 'webhook-failing',
        to_account_id: accountId,
        data: {
          channelId: 'FAILS',
          channelName: 'Name of FAILS',
          host: 'hook.example.com',
          since: expect.any(String),
          lastError: 'HTTP 500',
        },
      },
    ]);
    // The first event is given up, others follow: the same incident.
    await region(`UPDATE events SET created_at = now() - interval '62 minutes' WHERE channel_id = 'FAILS'`);
    await looking().look();
    expect(await stored()).toHaveLength(1);
    await region(`UPDATE webhook_cursors SET accepted_at = now() - interval '61 minutes' WHERE channel_id = 'FAILS'`);
    await looking().look();
    expect(await stored()).toHaveLength(2);
  });
});
