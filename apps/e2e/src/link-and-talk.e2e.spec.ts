import { schemaViolation } from './harness/contract.js';
import { eventually } from './harness/eventually.js';
import { type LinkedChannel, loginCode, RunningStack, untilConnected, untilStatus } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

interface WireMessage {
  id: string;
  chat_id: string;
  from_me: boolean;
  from?: string;
  from_name?: string;
  /** Epoch seconds. */
  timestamp: number;
  status?: string;
  text?: { body: string };
}

describe('one number, from its first scan to its end', () => {
  let running: RunningStack<SharedStack>;
  let webhook: WebhookReceiver;
  let friend: VirtualPhone;
  /** Linked for all journeys that leave it so. */
  let shop: LinkedChannel;

  beforeAll(async () => {
    running = await RunningStack.shared();
    webhook = await WebhookReceiver.start();
    shop = await linkWithWebhook();
  }, 120_000);
  afterAll(async () => {
    await webhook.close();
    await running.stop();
  }, 60_000);
  beforeEach(async () => {
    friend = await running.network.createPhone({ name: 'Fred Friend' });
  });

  /** A channel of its own for a journey that counts, or that ends its link. */
  const linkWithWebhook = async (): Promise<LinkedChannel> => {
    const linked = await running.createLinkedChannel('Olive Owner');
    const { status } = await linked.client.request('PATCH', '/settings', {
      body: { webhooks: [{ url: webhook.url, events: [{ type: 'messages' }, { type: 'statuses' }] }] },
    });
    expect(status).toBe(200);
    return linked;
  };
  const sendText = async ({ client }: LinkedChannel, body: string): Promise<WireMessage> => {
    const answer = await client.post<{ sent: boolean; message: WireMessage }>('/messages/text', {
      to: friend.phone,
      body,
    });
    expect(answer.status).toBe(200);
    expect(answer.body.sent).toBe(true);
    return answer.body.message;
  };
  const statusesOf = async ({ client }: LinkedChannel, { id }: WireMessage): Promise<string[]> => {
    const { body } = await client.get<{ statuses: { status: string }[] }>(`/statuses/${id}`);
    return body.statuses.map(({ status }) => status);
  };
  const untilRead = async (linked: LinkedChannel, sent: WireMessage): Promise<void> => {
    await eventually(async () => (await statusesOf(linked, sent)).includes('delivered'), { what: 'delivered' });
    expect(await statusesOf(linked, sent)).not.toContain('read');
    await friend.read(linked.phone.phone);
    await eventually(async () => (await statusesOf(linked, sent)).includes('read'), { what: 'read' });
  };

  it('is not linked when it was created', async () => {
    const { id, client } = await running.createChannel('first');
    const { status, body } = await client.get<{ channel_id: string; status: unknown; user?: unknown }>('/health');
    expect(status).toBe(200);
    expect(body.channel_id).toBe(id);
    expect(body.status).toEqual({ code: 0, text: 'not_linked' });
    expect(body.user).toBeUndefined();
  }, 30_000);

  it('refuses to send before it is linked, and explains how to link', async () => {
    const { client } = await running.createChannel('first');
    const { status, body } = await client.post<{ error: { details: string } }>('/messages/text', {
      to: friend.phone,
      body: 'too early',
    });
    expect(status).toBe(503);
    expect(body.error.details).toContain('/users/login/image');
  }, 60_000);

  it('is connected after a phone scanned its code', async () => {
    const { client } = await running.createChannel('first');
    const owner = await running.network.createPhone({ name: 'Olive Owner' });
    await loginCode(client);
    await untilStatus(client, 'qr'); // the edge may show a record of up to a second ago
    const { device } = await eventually(async () => owner.scan(await loginCode(client)), { what: 'it is linked' });
    await untilConnected(client);
    const health = () => client.get<{ user: { id: string; name: string }; device_id: number }>('/health');
    const { body } = await health();
    expect(body.user.id).toBe(owner.phone);
    expect(body.device_id).toBe(device);
    // The phone shares its name shortly after the link, with the rest of its state.
    await eventually(async () => (await health()).body.user.name === 'Olive Owner', { what: 'the name of the number' });
  }, 60_000);

  it('refuses another login code while it is linked', async () => {
    expect((await shop.client.get('/users/login/image')).status).toBe(403);
  }, 30_000);

  it('delivers a text to the phone it is for, and shows it on the own phone as well', async () => {
    const sent = await sendText(shop, 'Hello Fred 👋');
    expect(sent).toMatchObject({
      type: 'text',
      chat_id: `${friend.phone}@s.whatsapp.net`,
      from_me: true,
      from: shop.phone.phone,
      status: 'pending',
      source: 'api',
      text: { body: 'Hello Fred 👋' },
    });
    const received = await friend.waitFor({ text: 'Hello Fred 👋' });
    expect(received.deliveries).toBe(1);
    expect(received.fromMe).toBe(false);
    const copy = await shop.phone.waitFor({ text: 'Hello Fred 👋', chat: friend.phone });
    expect(copy.fromMe).toBe(true);
  }, 60_000);

  it('follows the message from pending over sent and delivered to read', async () => {
    const sent = await sendText(shop, 'Have you read it?');
    await untilRead(shop, sent);
    expect(await statusesOf(shop, sent)).toEqual(['pending', 'sent', 'delivered', 'read']);
    const { body } = await shop.client.get<WireMessage>(`/messages/${sent.id}`);
    expect(body.status).toBe('read');
  }, 60_000);

  it('reports the send and each step to the webhook, in order', async () => {
    const own = await linkWithWebhook();
    const sent = await sendText(own, 'step by step');
    await untilRead(own, sent);
    const calls = () => webhook.calls.filter(({ body }) => body.channel_id === own.id);
    await webhook.waitFor('read', () => calls().some(({ body }) => JSON.stringify(body).includes('"status":"read"')));
    const reported = calls().map(({ body }) => {
      const [message] = (body['messages'] ?? []) as WireMessage[];
      const [step] = (body['statuses'] ?? []) as { id: string; status: string }[];
      return message ? `message ${message.id}` : `${step?.status} ${step?.id}`;
    });
    expect(reported).toEqual([`message ${sent.id}`, `sent ${sent.id}`, `delivered ${sent.id}`, `read ${sent.id}`]);
    for (const { body } of calls()) {
      const schema = 'messages' in body ? 'HookMessagesPost' : 'HookStatusesPost';
      expect(schemaViolation(schema, body)).toBeUndefined();
    }
  }, 60_000);

  it('reports a text that came in to the webhook, in the shape of the contract', async () => {
    await friend.send(shop.phone.phone, 'Hi Olive');
    const call = await webhook.waitFor('the text', ({ body }) => {
      const text = JSON.stringify(body);
      return text.includes('Hi Olive') && text.includes(friend.phone);
    });
    expect(call.method).toBe('POST');
    expect(schemaViolation('HookMessagesPost', call.body)).toBeUndefined();
    expect(call.body.channel_id).toBe(shop.id);
    expect(call.body.event).toEqual({ type: 'messages', event: 'post', method: 'post' });
    const [message] = call.body['messages'] as WireMessage[];
    expect(message).toMatchObject({
      type: 'text',
      chat_id: `${friend.phone}@s.whatsapp.net`,
      from: friend.phone,
      from_me: false,
      from_name: 'Fred Friend',
      source: 'mobile',
      text: { body: 'Hi Olive' },
    });
  }, 60_000);

  it('lists both messages, newest first, and the chat with its last message', async () => {
    const own = await linkWithWebhook();
    const { client } = own;
    const sent = await sendText(own, 'Hello Fred 👋');
    // Lists go by the second; within one the ids decide. The answer is to be newer than what it answers.
    await eventually(() => Promise.resolve(Date.now() >= (sent.timestamp + 1) * 1_000), { what: 'a second later' });
    await friend.send(own.phone.phone, 'Hi Olive');
    const total = async (path: string) => (await client.get<{ total: number }>(path)).body.total;
    await eventually(async () => (await total('/messages/list')) === 2, { what: 'the answer' });
    const chat = `${friend.phone}@s.whatsapp.net`;
    for (const path of ['/messages/list', `/messages/list/${chat}`, `/messages/list/${encodeURIComponent(chat)}`]) {
      const { body } = await client.get<{ messages: WireMessage[]; total: number }>(path);
      expect(body.total).toBe(2);
      expect(body.messages.map(({ text }) => text?.body)).toEqual(['Hi Olive', 'Hello Fred 👋']);
    }
    const { body } = await client.get<{ chats: { id: string; unread: number; last_message: WireMessage }[] }>('/chats');
    expect(body.chats).toHaveLength(1);
    expect(body.chats[0]).toMatchObject({ id: chat, unread: 1, last_message: { text: { body: 'Hi Olive' } } });
    expect((await client.get(`/chats/${chat}`)).body).toEqual(body.chats[0]);
  }, 60_000);

  it('works again after the worker was restarted, without a scan', async () => {
    await running.stack.restart('session-worker');
    await untilConnected(shop.client);
    await sendText(shop, 'still me');
    expect((await friend.waitFor({ text: 'still me' })).deliveries).toBe(1);
  }, 90_000);

  it('receives what was sent while the worker was away', async () => {
    const text = `while you slept, ${friend.phone}`;
    await running.stack.restart('session-worker', {
      whileDown: () => friend.send(shop.phone.phone, text).then(() => undefined),
    });
    const call = await webhook.waitFor('the missed text', ({ body }) => JSON.stringify(body).includes(text));
    expect(call.body['messages']).toHaveLength(1);
  }, 90_000);

  it.each([
    ['for want of trust', 463, 403],
    ['because nobody has the number', 404, 200],
  ])(
    'reports that a text has failed which the network refuses %s, and why',
    async (why, code, answered) => {
      const { client, phone } = shop;
      await running.network.addFault({ kind: 'refuse-send', phone: phone.phone, code });
      const text = `refused ${why}`;
      const { status } = await client.post('/messages/text', { to: friend.phone, body: text });
      expect(status).toBe(answered);
      const send = await webhook.waitFor('the send', ({ body }) => JSON.stringify(body['messages'])?.includes(text));
      const [{ id } = { id: '' }] = send.body['messages'] as WireMessage[];
      const failed = await webhook.waitFor('the failure', ({ body }) => {
        const [step] = (body['statuses'] ?? []) as { id: string; status: string }[];
        return step?.id === id && step.status === 'failed';
      });
      expect(schemaViolation('HookStatusesPost', failed.body)).toBeUndefined();
      const step = { id, code: 0, status: 'failed', errors: [{ code }] };
      expect(failed.body['statuses']).toMatchObject([step]);
      expect((await client.get<WireMessage>(`/messages/${id}`)).body).toMatchObject({ status: 'failed' });
      const steps = await client.get<{ statuses: unknown[] }>(`/statuses/${id}`);
      expect(steps.body.statuses).toMatchObject([{ status: 'pending' }, step]);
      expect((await friend.messages()).filter((message) => message.text === text)).toEqual([]);
      // Only the channel has it, which may delete it for itself.
      expect((await client.request('DELETE', `/messages/${id}`)).body).toEqual({ success: true });
      expect((await client.get<WireMessage>(`/messages/${id}`)).body).toMatchObject({ status: 'deleted' });
    },
    30_000,
  );

  it('is not linked after a logout, and the phone no longer lists the device', async () => {
    const { client, phone } = await running.createLinkedChannel('Olive Owner');
    expect((await client.post('/users/logout')).status).toBe(200);
    await untilStatus(client, 'not_linked');
    await eventually(async () => (await phone.devices()).length === 0, { what: 'device gone from the phone' });
    expect((await client.post('/users/logout')).status).toBe(200);
    expect((await client.post('/messages/text', { to: friend.phone, body: 'gone' })).status).toBe(503);
  }, 60_000);

  it('detects that the phone unlinked it', async () => {
    const { client, phone, device } = await running.createLinkedChannel('Olive Owner');
    await phone.unlink(device);
    await untilStatus(client, 'not_linked');
  }, 60_000);

  it('loses the old token by a rotation', async () => {
    const { id, client } = await running.createChannel('first');
    expect((await client.get('/health')).status).toBe(200);
    const rotated = running.client(await running.management.rotateToken(id));
    expect((await rotated.get('/health')).status).toBe(200);
    await eventually(async () => (await client.get('/health')).status === 401, {
      what: 'old token refused',
    });
  }, 30_000);

  it('answers 401 once the channel is deleted', async () => {
    const { id, client, phone } = await running.createLinkedChannel('Olive Owner');
    expect(await running.management.deleteChannel(id)).toBeLessThan(300);
    await eventually(async () => (await client.get('/health')).status === 401, {
      what: 'token refused',
    });
    await eventually(async () => (await phone.devices()).length === 0, { what: 'device gone from the phone' });
  }, 60_000);
});
