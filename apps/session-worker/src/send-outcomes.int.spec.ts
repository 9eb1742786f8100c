import { CHANNEL, TestConversation } from './test-conversation.js';

jest.setTimeout(30_000);

describe('a send whose outcome is not known at once', () => {
  const talk = new TestConversation({ graceMs: 700, keepAliveMs: 1_000 });
  let ada: string;
  let device: { phone: string; device: number };

  beforeAll(async () => {
    await talk.start();
    ({ ada } = talk);
    await talk.send({ to: ada, body: 'first of all' });
    const { identity } = await talk.sessions.open(CHANNEL, Date.now() + 15_000);
    device = { phone: talk.own, device: identity.deviceId };
  });
  afterAll(() => talk.stop());

  const endFaults = async () => {
    for (const { id } of await talk.network.call<{ id: string }[]>('GET', '/faults')) {
      await talk.network.call('DELETE', `/faults/${id}`);
    }
  };
  afterEach(endFaults);

  const errorsOf = async (id: string) => (await talk.reader.statuses(CHANNEL, id))?.statuses.at(-1)?.errors;
  const onPhone = async (text: string) =>
    (await talk.network.call<{ text?: string }[]>('GET', `/phones/${ada}/messages`)).filter((one) => one.text === text);

  it('fails, notified, after the reconnection when a frozen connection never took it; its 502 names it', async () => {
    const thaw = await talk.fault({ kind: 'silence', ...device });
    const reply = await talk.call({ to: ada, body: 'into the ice' });
    const message = await talk.sent('into the ice');
    expect(reply).toMatchObject({ ok: false, error: { status: 502, details: expect.stringContaining(message.id) } });
    await talk.network.call('POST', '/faults', { kind: 'drop', ...device });
    await thaw();
    expect(await talk.untilStatus(message, 'failed')).toEqual(['pending', 'failed']);
    expect(await talk.eventsOf(message.id)).toEqual(['messages.post pending', 'statuses.post failed']);
    expect(await errorsOf(message.id)).toEqual([{ code: 408, message: 'the network never confirmed the message' }]);
    expect(await onPhone('into the ice')).toEqual([]);
    await talk.send({ to: ada, body: 'after the ice' });
  });

  it('is sent when the acknowledgement comes late on the same connection, and fails when none does', async () => {
    await talk.fault({ kind: 'lose-receipts', phone: ada });
    const release = await talk.fault({ kind: 'hold-acks', phone: talk.own });
    expect(await talk.call({ to: ada, body: 'acknowledged late' })).toMatchObject({ error: { status: 502 } });
    await release();
    expect(await talk.untilStatus(await talk.sent('acknowledged late'), 'sent')).toEqual(['pending', 'sent']);
    await talk.fault({ kind: 'hold-acks', phone: talk.own });
    expect(await talk.call({ to: ada, body: 'never acknowledged' })).toMatchObject({ error: { status: 502 } });
    expect(await talk.untilStatus(await talk.sent('never acknowledged'), 'failed')).toEqual(['pending', 'failed']);
  });

  it('that an earlier worker left pending fails under the next one, until a receipt proves that it was taken', async () => {
    await talk.fault({ kind: 'lose-receipts', phone: ada });
    await talk.fault({ kind: 'hold-acks', phone: talk.own });
    const call = talk.call({ to: ada, body: 'left behind' });
    await talk.received(ada, { text: 'left behind' });
    await talk.stopWorker();
    expect(await call).toMatchObject({ ok: false });
    await talk.startWorker();
    const left = await talk.sent('left behind');
    expect(await talk.untilStatus(left, 'failed')).toEqual(['pending', 'failed']);
    await endFaults();
    await talk.network.call('POST', `/phones/${ada}/read`, { chat: talk.own });
    expect(await talk.untilStatus(left, 'read')).toEqual(['pending', 'sent', 'failed', 'read']);
    expect((await talk.reader.message(CHANNEL, left.id))?.status).toBe('read');
  });

  it('keeps its id when its caller repeats it after it failed unconfirmed, and comes to life with the answer', async () => {
    await talk.send({ to: ada, body: 'nothing is left to be asked' });
    const thaw = await talk.fault({ kind: 'silence', ...device });
    const keyed = { to: ada, body: 'once and again' };
    expect(await talk.call(keyed, { sendAs: 'k1' })).toMatchObject({ error: { status: 502 } });
    await talk.network.call('POST', '/faults', { kind: 'drop', ...device });
    await thaw();
    const message = await talk.sent('once and again');
    await talk.untilStatus(message, 'failed');
    expect(await talk.send(keyed, { sendAs: 'k1' })).toMatchObject({ id: message.id, status: 'pending' });
    expect((await talk.untilStatus(message, 'delivered')).slice(0, 3)).toEqual(['pending', 'sent', 'failed']);
    expect(await onPhone('once and again')).toHaveLength(1);
  });

  it('is given to the network once when its caller repeats it five times at once', async () => {
    await talk.network.call('POST', '/faults', { kind: 'delay-acks', ms: 300, count: 5 });
    const keyed = { to: ada, body: 'five at once' };
    const sends = await Promise.all([1, 2, 3, 4, 5].map(() => talk.send(keyed, { sendAs: 'k5' })));
    expect(new Set(sends.map(({ id }) => id)).size).toBe(1);
    await talk.send({ to: ada, body: 'after the five' });
    await talk.received(ada, { text: 'after the five' });
    expect(await onPhone('five at once')).toMatchObject([{ deliveries: 1 }]);
  });

  it.each([1, 3, 5])('reaches a phone that could not read %i copies of it', async (count) => {
    await talk.network.call('POST', '/faults', { kind: 'corrupt-message', phone: ada, device: 0, count });
    const message = await talk.send({ to: ada, body: `readable after ${count}` });
    await talk.received(ada, { text: `readable after ${count}` });
    await talk.untilStatus(message, 'delivered');
  });

  it('fails when the recipient could read none of the copies it requested', async () => {
    const message = await talk.send({ to: ada, body: 'get on with it' });
    await talk.untilStatus(message, 'delivered');
    await talk.fault({ kind: 'corrupt-message', phone: ada, device: 0, count: 50 });
    const unread = await talk.send({ to: ada, body: 'never readable' });
    expect(await talk.untilStatus(unread, 'failed')).toEqual(['pending', 'sent', 'failed']);
    expect(await errorsOf(unread.id)).toEqual([{ code: 424, message: 'the recipient could not decrypt the message' }]);
    expect(await talk.eventsOf(unread.id)).toEqual([
      'messages.post pending',
      'statuses.post sent',
      'statuses.post failed',
    ]);
  });
});
