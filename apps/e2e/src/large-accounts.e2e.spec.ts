import { eventually } from './harness/eventually.js';
import { type LinkedChannel, loginCode, RunningStack, untilConnected } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

/** As many as the network lets into a group. */
const MAX_MEMBERS = 1_024;

describe('accounts in great use', () => {
  let running: RunningStack<SharedStack>;
  let channel: LinkedChannel;

  beforeAll(async () => {
    running = await RunningStack.shared();
    channel = await running.createLinkedChannel('Town Hall');
  }, 120_000);

  afterAll(() => running.stop(), 60_000);

  describe('a group of 1,024', () => {
    let group: string;
    let member: VirtualPhone;

    beforeAll(async () => {
      const members: VirtualPhone[] = [];
      while (members.length < MAX_MEMBERS - 1) members.push(await running.network.createPhone());
      member = members[700] ?? channel.phone;
      ({ id: group } = await running.network.call<{ id: string }>('POST', `/phones/${channel.phone.phone}/groups`, {
        subject: 'Town',
        members: members.map(({ phone }) => phone),
      }));
      await eventually(async () => (await channel.client.get(`/groups/${group}`)).status === 200, {
        what: 'the group is known',
      });
    }, 60_000);
    afterEach(() => running.network.call('POST', '/limits', { groupQueriesPerMinute: 0 }));

    const send = (body: string) =>
      channel.client
        .post<{ error?: object }>('/messages/text', { to: group, body })
        .then(({ status, body: { error } }) => ({
          status,
          error,
        }));

    it('is written to for the first time, which needs a session with each member', async () => {
      expect(await send('Dear all')).toEqual({ status: 200, error: undefined });
      expect(await member.waitFor({ text: 'Dear all' })).toMatchObject({ chat: group, fromMe: false });
    }, 60_000);

    it('is written to again without a query about it', async () => {
      expect((await send('To all of you')).status).toBe(200);
      await running.network.call('POST', '/limits', { groupQueriesPerMinute: 1 });
      for (const body of ['one', 'two', 'three']) expect(await send(body)).toEqual({ status: 200, error: undefined });
      expect(await member.waitFor({ text: 'three' })).toMatchObject({ chat: group });
    }, 60_000);
  });

  describe('a phone with a long history', () => {
    afterEach(() => running.network.removeFaults());

    const CHATS = 4;
    const PER_CHAT = 3_000;
    /** An hour apart: of each chat as many are of the last 90 days, which every device gets. */
    const RECENT_PER_CHAT = 90 * 24;
    let webhook: WebhookReceiver;

    beforeAll(async () => {
      webhook = await WebhookReceiver.start();
    });
    afterAll(() => webhook.close());

    const link = async (fullHistory: boolean): Promise<LinkedChannel> => {
      const phone = await running.network.createPhone({ name: 'Olive Owner' });
      const chats = Array.from({ length: CHATS }, (_, index) => String(15_551_110_000 + index));
      const past = { chats, messagesPerChat: PER_CHAT, minutesApart: 60 };
      await running.network.call('POST', `/phones/${phone.phone}/history`, past);
      await running.network.call('POST', `/phones/${phone.phone}/settings`, { historyFiles: 'always' });
      const { id, client } = await running.createChannel('History');
      const events = [{ type: 'messages' }, { type: 'chats' }, { type: 'contacts' }, { type: 'statuses' }];
      const body = { full_history: fullHistory, webhooks: [{ url: webhook.url, events }] };
      expect((await client.request('PATCH', '/settings', { body })).status).toBe(200);
      const { device } = await phone.scan(await loginCode(client));
      await untilConnected(client);
      return { id, client, phone, device };
    };
    const stored = async ({ client }: LinkedChannel, path = '/messages/list?count=1') =>
      (await client.get<{ total: number }>(path)).body.total;
    const reportedOf = ({ id }: LinkedChannel) => webhook.calls.filter(({ body }) => body.channel_id === id);

    it('is stored in full where that is wanted; meanwhile the number works, and nothing of it is reported', async () => {
      const slow = await running.network.addFault({ kind: 'slow-media', ms: 400 });
      const friend = await running.network.createPhone();
      const full = await link(true);
      const sent = await full.client.post('/messages/text', { to: friend.phone, body: 'while it comes in' });
      expect(sent.status).toBe(200);
      expect(await stored(full)).toBeLessThan(CHATS * PER_CHAT);
      await running.network.removeFault(slow.id);
      await friend.send(full.phone.phone, 'news');
      await eventually(async () => (await stored(full)) === CHATS * PER_CHAT + 2, {
        what: 'all of the history',
        withinMs: 60_000,
      });
      const [chat] = (await full.client.get<{ chats: { id: string }[] }>('/chats?count=1&offset=2')).body.chats;
      expect(await stored(full, `/messages/list/${chat?.id ?? ''}`)).toBe(PER_CHAT);
      await webhook.waitFor('the news', ({ body }) => JSON.stringify(body).includes('"news"'));
      const reported = reportedOf(full).flatMap(
        ({ body }) => (body['messages'] ?? []) as { text?: { body: string } }[],
      );
      expect(reported.map(({ text }) => text?.body)).toEqual(['while it comes in', 'news']);
      expect(reportedOf(full).length).toBeLessThan(20);
    }, 120_000);

    it('is stored as far as it is recent where nothing else is set', async () => {
      const recent = await link(false);
      await eventually(async () => (await stored(recent)) >= CHATS * (RECENT_PER_CHAT - 1), {
        what: 'the recent history',
        withinMs: 60_000,
      });
      expect(await stored(recent)).toBeLessThanOrEqual(CHATS * RECENT_PER_CHAT);
      expect(reportedOf(recent).filter(({ body }) => 'messages' in body)).toEqual([]);
      expect(reportedOf(recent).length).toBeLessThan(20);
    }, 120_000);
  });
});
