/** Commands and inbound together: one linked channel talks with phones of the simulated network. */
import { listMessagesQuery, type Message } from '@dormouse/gateway-contract';
import { CHANNEL, TestConversation, type PhoneMessage } from './test-conversation.js';

jest.setTimeout(30_000);

const LATEST = listMessagesQuery.parse({});
const soon = (): number => Date.now() + 15_000;

describe('a conversation', () => {
  const talk = new TestConversation();
  let own: string;
  let ada: string;

  beforeAll(async () => {
    await talk.start();
    ({ own, ada } = talk);
  });
  afterAll(() => talk.stop());

  it('sends a text: pending, sent, delivered, read as the phone reads it', async () => {
    const message = await talk.send({ to: ada, body: 'Hello Ada' });
    expect(message).toEqual({
      id: message.id,
      from_me: true,
      type: 'text',
      chat_id: `${ada}@s.whatsapp.net`,
      timestamp: expect.any(Number) as number,
      source: 'api',
      device_id: expect.any(Number) as number,
      status: 'pending',
      text: { body: 'Hello Ada' },
      from: own,
    });
    await talk.received(ada, { text: 'Hello Ada', fromMe: false });
    await talk.untilStatus(message, 'delivered');
    await talk.network.call('POST', `/phones/${ada}/read`, { chat: own });
    expect(await talk.untilStatus(message, 'read')).toEqual(['pending', 'sent', 'delivered', 'read']);
    expect(await talk.eventsOf(message.id)).toEqual([
      'messages.post pending',
      'statuses.post sent',
      'statuses.post delivered',
      'statuses.post read',
    ]);
    expect((await talk.reader.message(CHANNEL, message.id))?.status).toBe('read');
  });

  it('receives a text, once, with the number of its author', async () => {
    const message = await talk.fromPhone(ada, { text: 'Hello there' });
    expect(message).toMatchObject({
      from_me: false,
      type: 'text',
      chat_id: `${ada}@s.whatsapp.net`,
      text: { body: 'Hello there' },
      from: ada,
      from_name: 'Ada Example',
      chat_name: 'Ada Example',
    });
    expect(await talk.eventsOf(message.id)).toEqual(['messages.post']);
  });

  it('quotes, mentions, and lets a message disappear', async () => {
    const incoming = await talk.fromPhone(ada, { text: 'quote me' });
    const message = await talk.send({
      to: ada,
      body: `@${ada} yes`,
      quoted: incoming.id,
      mentions: [ada],
      ephemeral: 86_400,
    });
    expect(message.context).toEqual({
      quoted_id: incoming.id,
      quoted_author: ada,
      quoted_type: 'text',
      quoted_content: { body: 'quote me' },
      mentions: [ada],
      ephemeral: 86_400,
    });
    const arrived = await talk.received(ada, { text: `@${ada} yes` });
    const original = await talk.received(ada, { text: 'quote me' });
    expect(arrived).toMatchObject({ quoted: original.id, ephemeralSeconds: 86_400 });
    const answer = await talk.fromPhone(ada, { text: 'and I you', quote: arrived.id });
    expect(answer.context).toMatchObject({ quoted_id: message.id, quoted_author: own, quoted_type: 'text' });
  });

  it('refuses to quote or edit a message that is not there: 404 naming the field', async () => {
    for (const field of ['quoted', 'edit']) {
      const reply = await talk.call({ to: ada, body: 'x', [field]: 'AAAAAAAA-AAAAAAAA' });
      expect(reply).toMatchObject({ ok: false, error: { status: 404, details: `${field}: no such message` } });
    }
  });

  it("edits an own text on the phone and in the store, and nobody else's", async () => {
    const message = await talk.send({ to: ada, body: 'tipo' });
    const edited = await talk.send({ to: ada, body: 'typo', edit: message.id });
    expect(edited).toMatchObject({ id: message.id, text: { body: 'typo' } });
    await talk.received(ada, { text: 'typo' });
    expect(await talk.eventsOf(message.id)).toContain('messages.patch');
    const incoming = await talk.fromPhone(ada, { text: 'mine' });
    expect(await talk.call({ to: ada, body: 'x', edit: incoming.id })).toMatchObject({
      ok: false,
      error: { status: 403 },
    });
  });

  it('accepts "view once" without effect where only files can be viewed once: the poll can be voted in', async () => {
    const once = { to: ada, view_once: true };
    const poll = await talk.send(
      { ...once, title: 'Test', options: ['a', 'b'], count: 1 },
      { name: 'messages.sendPoll' },
    );
    await talk.send({ ...once, name: 'Bo', vcard: 'BEGIN:VCARD' }, { name: 'messages.sendContact' });
    await talk.send({ ...once, latitude: 1, longitude: 2 }, { name: 'messages.sendLocation' });
    await talk.send({ ...once, body: 'not only once' });
    await talk.received(ada, { text: 'not only once' });
    const shown = await talk.network.call<{ id: string; viewOnce?: boolean }[]>('GET', `/phones/${ada}/messages`);
    const [polled, ...others] = shown.slice(-4);
    expect([polled, ...others].map((message) => message?.viewOnce ?? false)).toEqual([false, false, false, false]);
    await talk.fromPhone(ada, { vote: { id: polled?.id, options: ['b'] } });
    const counted = (await talk.reader.message(CHANNEL, poll.id))?.poll;
    expect(counted?.results?.map(({ count }) => count)).toEqual([0, 1]);
  });

  it('shows typing before it sends, for as long as requested', async () => {
    const startedMs = Date.now();
    await talk.send({ to: ada, body: 'thought about it', typing_time: 0.3 });
    expect(Date.now() - startedMs).toBeGreaterThanOrEqual(300);
  });

  it('accepts a message to a number that is not on the network, and reports by its status that it failed', async () => {
    const message = await talk.send({ to: '15550999999', body: 'anybody there?' });
    expect(message.status).toBe('pending');
    expect(await talk.untilStatus(message, 'failed')).toEqual(['pending', 'failed']);
    expect(await talk.eventsOf(message.id)).toEqual(['messages.post pending', 'statuses.post failed']);
  });

  it('reports a refusal of the network to the caller and in the statuses', async () => {
    await talk.network.call('POST', '/faults', { kind: 'refuse-send', code: 463, count: 1 });
    const reply = await talk.call({ to: ada, body: 'refused' });
    expect(reply).toMatchObject({ ok: false, error: { status: 403, details: 'recipient refused by the network' } });
    const [message] = (await talk.reader.listMessages(CHANNEL, LATEST)).messages.filter(
      ({ text }) => text?.body === 'refused',
    );
    expect(message?.status).toBe('failed');
    const failed = (await talk.reader.statuses(CHANNEL, message?.id ?? ''))?.statuses.at(-1);
    expect(failed).toMatchObject({
      status: 'failed',
      errors: [{ code: 463, message: 'recipient refused by the network' }],
    });
  });

  it('answers 502 when the network does not acknowledge in time, and accepts the receipt that comes later', async () => {
    const { id } = await talk.network.call<{ id: number }>('POST', '/faults', { kind: 'hold-acks' });
    const reply = await talk.call({ to: ada, body: 'unconfirmed' });
    expect(reply).toMatchObject({ ok: false, error: { status: 502 } });
    await talk.network.call('DELETE', `/faults/${id}`);
    const [message] = (await talk.reader.listMessages(CHANNEL, LATEST)).messages.filter(
      ({ text }) => text?.body === 'unconfirmed',
    );
    if (!message) throw new Error('the message is not stored');
    expect(await talk.untilStatus(message, 'delivered')).toEqual(['pending', 'sent', 'delivered']);
  });

  it('receives what the owner types on the phone, and its receipts', async () => {
    const { id } = await talk.network.call<{ id: string }>('POST', `/phones/${own}/messages`, {
      to: ada,
      text: 'from my phone',
    });
    const message = await talk.until(async () =>
      (await talk.reader.listMessages(CHANNEL, LATEST)).messages.find(({ text }) => text?.body === 'from my phone'),
    );
    expect(message).toMatchObject({ from_me: true, source: 'mobile', from: own, chat_id: `${ada}@s.whatsapp.net` });
    expect(id).not.toBe('');
  });

  it('notifies once of a message whose first copy could not be read, when it is readable', async () => {
    const place = { phone: own, device: (await talk.sessions.open(CHANNEL, soon())).identity.deviceId };
    await talk.network.call('POST', '/faults', { kind: 'corrupt-message', ...place, count: 1 });
    const message = await talk.fromPhone(ada, { text: 'at the second try' });
    expect(message).toMatchObject({ type: 'text', text: { body: 'at the second try' } });
    expect(await talk.eventsOf(message.id)).toEqual(['messages.post']);
  });

  it('notifies once of a message that the network delivers twice', async () => {
    const place = { phone: own, device: (await talk.sessions.open(CHANNEL, soon())).identity.deviceId };
    await talk.network.call('POST', '/faults', { kind: 'duplicate-message', ...place, count: 1 });
    const message = await talk.fromPhone(ada, { text: 'twice' });
    const after = await talk.fromPhone(ada, { text: 'after the twin' });
    expect(await talk.eventsOf(message.id)).toEqual(['messages.post']);
    expect(await talk.eventsOf(after.id)).toEqual(['messages.post']);
  });

  it('sends again what the recipient could not read', async () => {
    await talk.network.call('POST', '/faults', { kind: 'corrupt-message', phone: ada, device: 0, count: 1 });
    const message = await talk.send({ to: ada, body: 'readable in the end' });
    await talk.received(ada, { text: 'readable in the end', fromMe: false });
    expect(await talk.untilStatus(message, 'delivered')).toEqual(['pending', 'sent', 'delivered']);
  });

  it('keeps the order of calls to one channel, and does not wait for acks in between', async () => {
    // One ack after the other would take longer than the spec may.
    const bodies = Array.from({ length: 40 }, (_, n) => `in order ${n}`);
    await talk.network.call('POST', '/faults', { kind: 'delay-acks', ms: 800, count: bodies.length });
    await Promise.all(bodies.map((body) => talk.send({ to: ada, body })));
    const messages = await talk.network.call<PhoneMessage[]>('GET', `/phones/${ada}/messages?chat=${own}`);
    expect(messages.map(({ text }) => text).filter((text) => text?.startsWith('in order'))).toEqual(bodies);
  });

  it('lists the chat with its last message and what is unread', async () => {
    await talk.fromPhone(ada, { text: 'last words' });
    const { chats } = await talk.reader.listChats(CHANNEL, { count: 10, offset: 0 });
    expect(chats[0]).toMatchObject({
      id: `${ada}@s.whatsapp.net`,
      type: 'contact',
      name: 'Ada Example',
      last_message: { text: { body: 'last words' } },
    });
    expect(chats[0]?.unread).toBeGreaterThan(0);
  });

  it('stores what came while no worker was there, in order, and notifies of it once', async () => {
    await talk.stopWorker();
    for (let n = 0; n < 30; n += 1) {
      await talk.network.call('POST', `/phones/${ada}/messages`, { to: own, text: `while away ${n}` });
    }
    await talk.startWorker();
    await talk.sessions.open(CHANNEL, soon());
    await talk.until(async () => {
      const events = await talk.reader.events(CHANNEL, 0, 10_000);
      const bodies = events.flatMap(({ payload }) => {
        const [message] = (payload as { messages?: Message[] }).messages ?? [];
        return message?.text?.body.startsWith('while away') ? [message.text.body] : [];
      });
      if (bodies.length < 30) return undefined;
      expect(bodies).toEqual(Array.from({ length: 30 }, (_, n) => `while away ${n}`));
      return bodies;
    });
  }, 30_000);
});
