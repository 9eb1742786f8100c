import { eventually } from './harness/eventually.js';
import type { GatewayClient } from './harness/gateway-client.js';
import { RunningStack, loginCode, untilConnected, type LinkedChannel } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

interface Chat {
  id: string;
  name?: string;
  type: string;
  timestamp: number;
  unread?: number;
  pin?: boolean;
  mute?: boolean;
  mute_until?: number;
  archive?: boolean;
  last_message?: { id: string; text?: { body: string } };
}
interface PhoneChat {
  chat: string;
  unread: number;
  archived?: boolean;
  pinnedAtMs?: number;
  mutedUntilMs?: number;
  markedRead?: boolean;
}
interface PhoneEvent {
  kind: string;
  what: string;
  from: string;
}

const RED_DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';

describe('chats, contacts and presences', () => {
  let running: RunningStack<SharedStack>;
  let webhook: WebhookReceiver;
  /** The channel of all journeys but those that need one of their own. */
  let shop: LinkedChannel;
  let channel: LinkedChannel;
  let client: GatewayClient;
  let owner: VirtualPhone;
  let ada: VirtualPhone;
  let bo: VirtualPhone;

  const jid = (phone: VirtualPhone): string => `${phone.phone}@s.whatsapp.net`;
  const chat = async (phone: VirtualPhone): Promise<Chat> => (await client.get<Chat>(`/chats/${jid(phone)}`)).body;
  const patch = (phone: VirtualPhone, body: object) => client.request('PATCH', `/chats/${jid(phone)}`, { body });
  const onPhone = async (other: VirtualPhone): Promise<PhoneChat | undefined> =>
    (await running.network.call<PhoneChat[]>('GET', `/phones/${owner.phone}/chats`)).find(
      (entry) => entry.chat === jid(other),
    );
  const atPhone = (other: VirtualPhone, change: object) =>
    running.network.call('POST', `/phones/${owner.phone}/chats`, { chat: other.phone, ...change });
  const observed = (phone: VirtualPhone, filter: object) =>
    running.network.call<PhoneEvent>('POST', `/phones/${phone.phone}/events/wait`, { ...filter, timeoutMs: 15_000 });
  const notified = (type: string, method: string, ...parts: string[]) =>
    webhook.waitFor(`${type}.${method} with ${parts.join(' and ')}`, ({ body }) => {
      const text = JSON.stringify(body);
      return body.event?.type === type && body.event.event === method && parts.every((part) => text.includes(part));
    });

  beforeAll(async () => {
    running = await RunningStack.shared();
    webhook = await WebhookReceiver.start();
    shop = await link();
  }, 120_000);

  // Each journey has people of its own, whose chats nothing else has touched.
  beforeEach(async () => {
    use(shop);
    ada = await running.network.createPhone({ name: 'Ada Example' });
    bo = await running.network.createPhone({ name: 'Bo Example' });
  });

  /** A channel that reports chats, contacts and messages to the webhook. */
  const link = async (): Promise<LinkedChannel> => {
    const linked = await running.createLinkedChannel('Shop Example');
    const { status } = await linked.client.request('PATCH', '/settings', {
      body: {
        webhooks: [{ url: webhook.url, events: [{ type: 'chats' }, { type: 'contacts' }, { type: 'messages' }] }],
      },
    });
    expect(status).toBe(200);
    return linked;
  };
  /** The channel that everything below goes through, from now on. */
  const use = (linked: LinkedChannel): void => {
    channel = linked;
    ({ client, phone: owner } = linked);
  };
  /** Each of them has written to the channel once, in this order and in different seconds. */
  const chatsWith = async (...people: [VirtualPhone, string][]): Promise<void> => {
    let last = 0;
    for (const [phone, text] of people) {
      // The network counts in seconds: what comes in the same one is not later.
      await eventually(() => Promise.resolve(Date.now() >= (last + 1) * 1_000), { what: 'the next second' });
      await phone.send(owner.phone, text);
      const known = await eventually(
        async () => {
          const found = await chat(phone);
          return found.unread === 1 && found;
        },
        { what: `the chat with ${phone.phone}` },
      );
      last = known.timestamp;
    }
  };

  afterAll(async () => {
    await running?.stop();
    await webhook?.close();
  }, 60_000);

  describe('chats', () => {
    it('are listed by activity, with their last message, and reported when they are new', async () => {
      use(await link());
      await chatsWith([ada, 'Good morning'], [bo, 'Hi there']);
      const { body } = await client.get<{ chats: Chat[]; total: number; count: number; offset: number }>('/chats');
      expect(body).toMatchObject({ total: 2, count: 100, offset: 0 });
      expect(body.chats.map(({ id }) => id)).toEqual([jid(bo), jid(ada)]);
      expect(body.chats[1]).toMatchObject({ name: 'Ada Example', type: 'contact', unread: 1 });
      expect(body.chats[1]?.last_message?.text?.body).toBe('Good morning');
      expect((await client.get('/chats?count=1&offset=1')).body).toMatchObject({ total: 2, chats: [{ id: jid(ada) }] });
      await notified('chats', 'post', jid(ada));
    }, 60_000);

    it('are 404 when the channel does not have them, whatever the id looks like', async () => {
      await chatsWith([ada, 'Good morning']);
      for (const id of ['15550009999@s.whatsapp.net', 'nonsense', '1@g.us', '900000000001@lid']) {
        expect((await client.get(`/chats/${encodeURIComponent(id)}`)).status).toBe(404);
        expect((await client.request('PATCH', `/chats/${id}`, { body: { pin: true } })).status).toBe(404);
        expect((await client.post(`/chats/${id}`)).status).toBe(404);
        expect((await client.request('DELETE', `/chats/${id}`)).status).toBe(404);
      }
      expect((await patch(ada, {})).status).toBe(400);
    }, 30_000);

    it('are read: the sender gets a receipt, and the phone shows nothing unread', async () => {
      await chatsWith([ada, 'Good morning']);
      expect((await client.post(`/chats/${jid(ada)}`)).body).toEqual({ success: true });
      expect((await chat(ada)).unread).toBe(0);
      await eventually(async () => (await ada.messages()).some(({ status }) => status === 'read'), {
        what: 'a read receipt',
      });
      await eventually(async () => (await onPhone(ada))?.unread === 0, { what: 'nothing unread on the phone' });
    }, 30_000);

    it('are archived, pinned, muted and marked as unread on the phone, by both body families', async () => {
      await chatsWith([ada, 'Good morning']);
      expect((await client.post(`/chats/${jid(ada)}`)).body).toEqual({ success: true });
      const untilMs = Date.now() + 3_600_000;
      expect((await client.post(`/chats/${jid(ada)}`, { archive: true })).body).toEqual({ success: true });
      expect((await patch(ada, { pin: true, mute_until: untilMs, mark_unread: true })).body).toEqual({ success: true });
      expect(await chat(ada)).toMatchObject({ archive: true, pin: true, mute: true, mute_until: untilMs, unread: 1 });
      const phone = await eventually(() => onPhone(ada), { what: 'the chat on the phone' });
      expect(phone).toMatchObject({ archived: true, mutedUntilMs: untilMs, markedRead: false });
      expect(phone.pinnedAtMs).toBeGreaterThan(0);
      await notified('chats', 'patch', jid(ada), '"mute_until"');
      expect((await patch(ada, { archive: false, pin: false, mute: false, mark_unread: false })).status).toBe(200);
      expect(await chat(ada)).toMatchObject({ archive: false, pin: false, mute: false, mute_until: 0, unread: 0 });
      expect(await onPhone(ada)).toMatchObject({ archived: false, pinnedAtMs: 0, mutedUntilMs: 0, markedRead: true });
      expect((await patch(ada, { mute: true })).status).toBe(200);
      expect(await onPhone(ada)).toMatchObject({ mutedUntilMs: -1 });
      expect((await patch(ada, { mute_until: 0, ephemeral: 'week' })).status).toBe(200);
    }, 60_000);

    it('show what was changed on the phone, and report it', async () => {
      await chatsWith([bo, 'Hi there']);
      await atPhone(bo, { pinned: true, archived: true, mutedUntilMs: -1 });
      await eventually(
        async () => {
          const { pin, archive, mute } = await chat(bo);
          return pin === true && archive === true && mute === true;
        },
        { what: 'the change of the phone', everyMs: 20 },
      );
      await notified('chats', 'patch', jid(bo), '"archive":true');
    }, 30_000);

    it('keep their state over a restart of the worker; what came in a burst before it is read in full', async () => {
      await chatsWith([bo, 'Hi there']);
      await atPhone(bo, { pinned: true, archived: true, mutedUntilMs: -1 });
      const burst = ['One thing', 'Another', 'And a third'];
      for (const text of burst) await ada.send(owner.phone, text);
      await eventually(async () => (await chat(ada)).unread === burst.length, { what: 'the burst' });
      await eventually(async () => (await chat(bo)).mute === true, { what: 'the change before the restart' });
      await running.stack.restart('session-worker');
      await untilConnected(client);
      expect(await chat(bo)).toMatchObject({ pin: true, archive: true, mute: true });
      await atPhone(bo, { archived: false });
      await eventually(async () => (await chat(bo)).archive === false, { what: 'the change after the restart' });
      expect((await client.post(`/chats/${jid(ada)}`)).body).toEqual({ success: true });
      await eventually(
        async () => {
          const read = (await ada.messages()).filter(({ status }) => status === 'read');
          return burst.every((text) => read.some((message) => message.text === text));
        },
        { what: 'a read receipt for each' },
      );
    }, 60_000);

    it('are removed with their messages, here and on the phone', async () => {
      await chatsWith([bo, 'Hi there']);
      const { last_message: last } = await chat(bo);
      expect((await client.request('DELETE', `/chats/${jid(bo)}`)).body).toEqual({ success: true });
      expect((await client.get(`/chats/${jid(bo)}`)).status).toBe(404);
      expect((await client.get(`/messages/list/${jid(bo)}`)).status).toBe(404);
      expect((await client.get(`/messages/${last?.id ?? ''}`)).status).toBe(404);
      await eventually(async () => (await onPhone(bo)) === undefined, { what: 'the chat gone on the phone' });
      await notified('chats', 'delete', jid(bo));
      await bo.send(owner.phone, 'Are you there?');
      await eventually(async () => (await client.get(`/chats/${jid(bo)}`)).status === 200, { what: 'a new chat' });
      await atPhone(bo, { delete: true });
      await eventually(async () => (await client.get(`/chats/${jid(bo)}`)).status === 404, {
        what: 'the chat deleted on the phone',
      });
    }, 60_000);
  });

  describe('contacts', () => {
    it('are listed and looked up; nobody else is', async () => {
      use(await link());
      await chatsWith([ada, 'Good morning'], [bo, 'Hi there']);
      await running.network.call('POST', `/phones/${owner.phone}/contacts`, { who: ada.phone, name: 'Ada (work)' });
      const named = await eventually(
        async () => {
          const { body } = await client.get<{ name: string }>(`/contacts/${ada.phone}`);
          return body.name === 'Ada (work)' && body;
        },
        { what: 'the name in the address book' },
      );
      expect(named).toMatchObject({ id: ada.phone, pushname: 'Ada Example', saved: true });
      const { body } = await client.get<{ contacts: { id: string }[]; total: number }>('/contacts');
      expect(body.contacts.map(({ id }) => id)).toEqual([ada.phone, bo.phone].sort());
      expect(body.total).toBe(2);
      expect((await client.get('/contacts/15550009999')).status).toBe(404);
      expect((await client.get('/contacts/nonsense')).status).toBe(404);
      const head = { method: 'HEAD', headers: { authorization: `Bearer ${client.token ?? ''}` } };
      expect((await fetch(`${running.edgeUrl}/contacts/${ada.phone}`, head)).status).toBe(501);
      await notified('contacts', 'post', 'Ada (work)');
      await notified('contacts', 'patch', 'Ada (work)');
    }, 30_000);

    it('have a profile that the network is queried for', async () => {
      await chatsWith([ada, 'Good morning'], [bo, 'Hi there']);
      await running.network.call('POST', `/phones/${owner.phone}/contacts`, { who: ada.phone, name: 'Ada (work)' });
      await eventually(async () => (await client.get(`/contacts/${ada.phone}`)).body['name'] === 'Ada (work)', {
        what: 'the name in the address book',
      });
      await running.network.call('POST', `/phones/${ada.phone}/profile`, { about: 'Busy' });
      await running.network.call('POST', `/phones/${ada.phone}/picture`, { base64: RED_DOT });
      const { body } = await client.get<Record<string, string>>(`/contacts/${ada.phone}/profile`);
      expect(body).toMatchObject({ name: 'Ada (work)', about: 'Busy', push_name: 'Ada Example' });
      expect(body.icon).toMatch(/^https:/);
      await notified('contacts', 'patch', '"profile_pic"');
      const { body: plain } = await client.get<Record<string, string>>(`/contacts/${bo.phone}/profile`);
      expect(plain.icon).toBeUndefined();
      expect((await client.get('/contacts/15550009999/profile')).status).toBe(404);
    }, 30_000);

    it('are checked in the order given, junk among them, by the answer of the network alone', async () => {
      const cara = await running.network.createPhone({ phone: '551187654321', name: 'Cara Example' });
      const contacts = [`+${ada.phone}`, 'hello', '5511987654321', '1 (555) 000-9998', bo.phone, `+${ada.phone}`, ''];
      const { body } = await client.post('/contacts', { contacts, blocking: 'wait' });
      expect(body).toEqual({
        contacts: [
          { input: `+${ada.phone}`, status: 'valid', wa_id: ada.phone },
          { input: 'hello', status: 'invalid' },
          { input: '5511987654321', status: 'valid', wa_id: cara.phone },
          { input: '1 (555) 000-9998', status: 'invalid' },
          { input: bo.phone, status: 'valid', wa_id: bo.phone },
          { input: `+${ada.phone}`, status: 'valid', wa_id: ada.phone },
          { input: '', status: 'invalid' },
        ],
      });
      expect((await client.post('/contacts', { contacts: [] })).status).toBe(400);
      expect((await client.post('/contacts', { contacts: Array(1_001).fill('15550001111') })).status).toBe(400);
    }, 30_000);

    it('are checked a thousand at once', async () => {
      const contacts = Array.from({ length: 999 }, (_, index) => String(16_660_000_000 + index));
      contacts.push(ada.phone);
      const { body } = await client.post<{ contacts: { input: string; status: string }[] }>('/contacts', { contacts });
      expect(body.contacts.map(({ input }) => input)).toEqual(contacts);
      expect(body.contacts.filter(({ status }) => status === 'valid')).toHaveLength(1);
    }, 70_000);
  });

  describe('presences', () => {
    it('show the number online and offline', async () => {
      await chatsWith([ada, 'Good morning']);
      expect((await client.request('PUT', '/presences/me', { body: { presence: 'online' } })).status).toBe(200);
      await observed(ada, { kind: 'presence', what: 'available', from: jid(owner) });
      expect((await client.request('PUT', '/presences/me', { body: { presence: 'offline' } })).status).toBe(200);
      await observed(ada, { kind: 'presence', what: 'unavailable', from: jid(owner) });
      expect((await client.request('PUT', '/presences/me', { body: { presence: 'away' } })).status).toBe(400);
    }, 30_000);

    it('show typing and recording in a chat, and end it after the delay', async () => {
      await chatsWith([ada, 'Good morning']);
      const put = (body: object, to = ada.phone) => client.request('PUT', `/presences/${to}`, { body });
      // The answer waits for no end of it, least of all for one in an hour.
      expect((await put({ presence: 'typing', delay: 3_600 })).body).toEqual({ success: true });
      await observed(ada, { kind: 'typing', what: 'composing', from: jid(owner) });
      expect((await put({ presence: 'typing', delay: 1 })).body).toEqual({ success: true });
      await observed(ada, { kind: 'typing', what: 'paused', from: jid(owner) });
      expect((await put({ presence: 'recording' }, jid(ada))).status).toBe(200);
      await observed(ada, { kind: 'typing', what: 'recording', from: jid(owner) });
      expect((await put({ presence: 'paused' })).status).toBe(200);
      expect((await put({ presence: 'typing' }, 'nonsense')).status).toBe(400);
      expect((await put({ presence: 'typing' }, '120363000000000999@g.us')).status).toBe(404);
      expect((await client.post(`/presences/${ada.phone}`)).status).toBe(501);
    }, 30_000);
  });

  describe('settings', () => {
    it('let the channel read and type by itself', async () => {
      use(await link());
      const settings = (body: object) => client.request('PATCH', '/settings', { body });
      expect((await settings({ auto_read: true, auto_presence: 'typing' })).status).toBe(200);
      const { id } = await eventually(
        async () => {
          const sent = await ada.send(owner.phone, `Hello at ${Date.now()}`);
          const read = async () => (await ada.messages()).find((message) => message.id === sent.id)?.status === 'read';
          return (await eventually(read, { what: 'read', withinMs: 2_000 }).catch(() => false)) && sent;
        },
        { what: 'a message that is read by itself', everyMs: 500 },
      );
      expect(id).toBeTruthy();
      await observed(ada, { kind: 'typing', what: 'composing', from: jid(owner) });
      await eventually(async () => (await chat(ada)).unread === 0, { what: 'nothing unread' });
      expect((await settings({ auto_read: false, auto_presence: 'none', legacy_status_text: true })).status).toBe(200);
      const health = () => client.get<{ status: { text: string; code: number } }>('/health');
      await eventually(async () => (await health()).body.status.text === 'AUTH', { what: 'the older name' });
      expect((await health()).body.status.code).toBe(4);
      expect((await settings({ legacy_status_text: false })).status).toBe(200);
    }, 60_000);
  });

  describe('the phone', () => {
    it('that unlinks the device is detected and reported, and can be linked again with its history', async () => {
      use(await link());
      await chatsWith([ada, 'Good morning']);
      await running.network.call('POST', `/phones/${owner.phone}/history`, {
        chats: ['15557770001'],
        messagesPerChat: 300,
      });
      await atPhone(ada, { pinned: true });
      await owner.unlink(channel.device);
      await eventually(
        async () => (await client.get<{ status: { text: string } }>('/health')).body.status.text === 'not_linked',
        { what: 'not linked' },
      );
      expect((await client.get(`/contacts/${ada.phone}/profile`)).status).toBe(503);
      expect((await client.request('PATCH', `/chats/${jid(ada)}`, { body: { pin: true } })).status).toBe(503);
      expect((await client.get('/users/login/image?wakeup=false')).status).toBe(503);
      const before = webhook.calls.length;
      const [one, other] = await Promise.all([loginCode(client), loginCode(client)]);
      expect(one).toBe(other);
      await owner.scan(one);
      await untilConnected(client);
      await eventually(
        async () =>
          (await client.get<{ total: number }>('/messages/list/15557770001@s.whatsapp.net')).body.total === 300,
        { what: 'the history' },
      );
      await eventually(async () => (await chat(ada)).pin === true, { what: 'the state of the chats' });
      const flood = webhook.calls.slice(before).filter(({ body }) => JSON.stringify(body).includes('of the past'));
      expect(flood).toEqual([]);
    }, 90_000);
  });
});
