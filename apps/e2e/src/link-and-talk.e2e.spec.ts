import { schemaViolation } from './harness/contract.js';
import { eventually } from './harness/eventually.js';
import type { GatewayClient } from './harness/gateway-client.js';
import { loginCode, RunningStack, untilConnected, untilStatus } from './harness/running-stack.js';
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
  let running: RunningStack;
  let webhook: WebhookReceiver;
  let owner: VirtualPhone;
  let friend: VirtualPhone;
  let client: GatewayClient;
  let channelId: string;
  let device: number;
  let sent: WireMessage;

  beforeAll(async () => {
    running = await RunningStack.start();
    webhook = await WebhookReceiver.start();
    owner = await running.network.createPhone({ name: 'Olive Owner' });
    friend = await running.network.createPhone({ name: 'Fred Friend' });
  }, 120_000);

  afterAll(async () => {
    await webhook.close();
    await running.stop();
  }, 60_000);

  const statuses = async (): Promise<string[]> => {
    const { body } = await client.get<{ statuses: { status: string }[] }>(`/statuses/${sent.id}`);
    return body.statuses.map(({ status }) => status);
  };

  it('is not linked when it was created', async () => {
    ({ id: channelId, client } = await running.createChannel('first'));
    const { status, body } = await client.get<{ channel_id: string; status: unknown; user?: unknown }>('/health');
    expect(status).toBe(200);
    expect(body.channel_id).toBe(channelId);
    expect(body.status).toEqual({ code: 0, text: 'not_linked' });
    expect(body.user).toBeUndefined();
  }, 30_000);

  it('refuses to send before it is linked, and says how to link', async () => {
    const { status, body } = await client.post<{ error: { details: string } }>('/messages/text', {
      to: friend.phone,
      body: 'too early',
    });
    expect(status).toBe(503);
    expect(body.error.details).toContain('/users/login/image');
  }, 60_000);

  it('is connected after a phone scanned its code', async () => {
    const code = await loginCode(client);
    await untilStatus(client, 'qr', 5_000); // the edge may show a record of up to a second ago
    ({ device } = await owner.scan(code));
    await untilConnected(client);
    const health = () => client.get<{ user: { id: string; name: string }; device_id: number }>('/health');
    const { body } = await health();
    expect(body.user.id).toBe(owner.phone);
    expect(body.device_id).toBe(device);
    // The phone shares its name shortly after the link, with the rest of its state.
    await eventually(async () => (await health()).body.user.name === 'Olive Owner', { what: 'the name of the number' });
  }, 60_000);

  it('refuses another login code while it is linked', async () => {
    expect((await client.get('/users/login/image')).status).toBe(403);
  }, 30_000);

  it('delivers a text to the phone it is for', async () => {
    const { status } = await client.request('PATCH', '/settings', {
      body: { webhooks: [{ url: webhook.url, events: [{ type: 'messages' }, { type: 'statuses' }] }] },
    });
    expect(status).toBe(200);
    const answer = await client.post<{ sent: boolean; message: WireMessage }>('/messages/text', {
      to: friend.phone,
      body: 'Hello Fred 👋',
    });
    expect(answer.status).toBe(200);
    expect(answer.body.sent).toBe(true);
    sent = answer.body.message;
    expect(sent).toMatchObject({
      type: 'text',
      chat_id: `${friend.phone}@s.whatsapp.net`,
      from_me: true,
      from: owner.phone,
      status: 'pending',
      source: 'api',
      text: { body: 'Hello Fred 👋' },
    });
    const heard = await friend.waitFor({ text: 'Hello Fred 👋' });
    expect(heard.deliveries).toBe(1);
    expect(heard.fromMe).toBe(false);
  }, 60_000);

  it('shows the text on the own phone as well', async () => {
    const copy = await owner.waitFor({ text: 'Hello Fred 👋' });
    expect(copy.fromMe).toBe(true);
  }, 30_000);

  it('follows the message from pending over sent and delivered to read', async () => {
    await eventually(async () => (await statuses()).includes('delivered'), { what: 'delivered' });
    expect(await statuses()).not.toContain('read');
    await friend.read(owner.phone);
    await eventually(async () => (await statuses()).includes('read'), { what: 'read' });
    expect(await statuses()).toEqual(['pending', 'sent', 'delivered', 'read']);
    const { body } = await client.get<WireMessage>(`/messages/${sent.id}`);
    expect(body.status).toBe('read');
  }, 60_000);

  it('tells the webhook of the send and of each step, in order', async () => {
    await webhook.waitFor('read', ({ body }) => JSON.stringify(body).includes('"status":"read"'));
    const told = webhook.calls.map(({ body }) => {
      const [message] = (body['messages'] ?? []) as WireMessage[];
      const [step] = (body['statuses'] ?? []) as { id: string; status: string }[];
      return message ? `message ${message.id}` : `${step?.status} ${step?.id}`;
    });
    expect(told).toEqual([`message ${sent.id}`, `sent ${sent.id}`, `delivered ${sent.id}`, `read ${sent.id}`]);
  }, 30_000);

  it('tells the webhook of a text that came in, in the shape of the contract', async () => {
    // Lists go by the second; within one the ids decide. The answer is to be newer than what it answers.
    await eventually(() => Promise.resolve(Date.now() >= (sent.timestamp + 1) * 1_000), { what: 'a second later' });
    await friend.send(owner.phone, 'Hi Olive');
    const call = await webhook.waitFor('the text', ({ body }) => JSON.stringify(body).includes('Hi Olive'));
    expect(call.method).toBe('POST');
    expect(schemaViolation('HookMessagesPost', call.body)).toBeUndefined();
    expect(call.body.channel_id).toBe(channelId);
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
    for (const { body } of webhook.calls) {
      const schema = 'messages' in body ? 'HookMessagesPost' : 'HookStatusesPost';
      expect(schemaViolation(schema, body)).toBeUndefined();
    }
  }, 60_000);

  it('lists both messages, newest first, and the chat with its last message', async () => {
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
  }, 30_000);

  it('works again after the worker was restarted, without a scan', async () => {
    await running.stack.restart('session-worker');
    await untilConnected(client);
    const { status } = await client.post('/messages/text', { to: friend.phone, body: 'still me' });
    expect(status).toBe(200);
    expect((await friend.waitFor({ text: 'still me' })).deliveries).toBe(1);
  }, 90_000);

  it('hears what was said while the worker was away', async () => {
    const replacement = running.stack.restart('session-worker', {
      whileDown: () => friend.send(owner.phone, 'while you slept').then(() => undefined),
    });
    await replacement;
    const call = await webhook.waitFor('the missed text', ({ body }) =>
      JSON.stringify(body).includes('while you slept'),
    );
    expect(call.body['messages']).toHaveLength(1);
  }, 90_000);

  it.each([
    ['for want of trust', 463, 403],
    ['because nobody has the number', 404, 200],
  ])(
    'tells that a text has failed which the network refuses %s, and why',
    async (why, code, answered) => {
      await running.network.addFault({ kind: 'refuse-send', phone: owner.phone, code });
      const text = `refused ${why}`;
      const { status } = await client.post('/messages/text', { to: friend.phone, body: text });
      expect(status).toBe(answered);
      const send = await webhook.waitFor('the send', ({ body }) => JSON.stringify(body['messages'])?.includes(text));
      const [{ id } = sent] = send.body['messages'] as WireMessage[];
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
      // Nobody has it but the channel, which may delete it for itself.
      expect((await client.request('DELETE', `/messages/${id}`)).body).toEqual({ success: true });
      expect((await client.get<WireMessage>(`/messages/${id}`)).body).toMatchObject({ status: 'deleted' });
    },
    30_000,
  );

  it('is not linked after a logout, and the phone no longer lists the device', async () => {
    expect((await client.post('/users/logout')).status).toBe(200);
    await untilStatus(client, 'not_linked');
    await eventually(async () => (await owner.devices()).length === 0, { what: 'device gone from the phone' });
    expect((await client.post('/users/logout')).status).toBe(200);
    expect((await client.post('/messages/text', { to: friend.phone, body: 'gone' })).status).toBe(503);
  }, 60_000);

  it('notices that the phone unlinked it', async () => {
    ({ device } = await owner.scan(await loginCode(client)));
    await untilConnected(client);
    await owner.unlink(device);
    await untilStatus(client, 'not_linked');
  }, 60_000);

  it('loses the old token within two seconds of a rotation', async () => {
    const rotated = running.client(await running.management.rotateToken(channelId));
    expect((await rotated.get('/health')).status).toBe(200);
    await eventually(async () => (await client.get('/health')).status === 401, {
      what: 'old token refused',
      withinMs: 2_000,
    });
    client = rotated;
  }, 30_000);

  it('answers 401 once the channel is deleted', async () => {
    await owner.scan(await loginCode(client));
    await untilConnected(client);
    expect(await running.management.deleteChannel(channelId)).toBeLessThan(300);
    await eventually(async () => (await client.get('/health')).status === 401, {
      what: 'token refused',
      withinMs: 2_000,
    });
    await eventually(async () => (await owner.devices()).length === 0, { what: 'device gone from the phone' });
  }, 60_000);
});
