import type { CheckContactsResult, GroupCreateResult } from '@dormouse/gateway-contract';
import { librarySocket } from './socket/test-network.js';
import { TestConversation } from './test-conversation.js';

jest.setTimeout(30_000);

describe('a number', () => {
  const talk = new TestConversation();
  let queries = 0;
  beforeAll(() => talk.start());
  afterAll(() => talk.stop());

  const counted = new WeakSet<object>();
  /** Counts the queries about numbers that the channel sends from now on. */
  const count = async () => {
    queries = 0;
    const socket = librarySocket(await talk.sessions.open('CH-TALK', Date.now() + 15_000));
    if (counted.has(socket)) return;
    counted.add(socket);
    const query = socket.query.bind(socket);
    socket.query = (node, ...rest) => {
      if (JSON.stringify(node).includes('"interactive"')) queries += 1;
      return query(node, ...rest);
    };
  };

  it.each([
    ['Mexico', '5215512345678', '525512345678'],
    ['Argentina', '5491155554444', '541155554444'],
    ['Brazil', '551187654321', '5511987654321'],
  ])('typed in another spelling (%s) is one chat with its answers, and is queried once', async (_, phone, typed) => {
    await talk.network.call('POST', '/phones', { phone, name: 'Fred' });
    await count();
    const message = await talk.send({ to: typed, body: 'which chat is it?' });
    expect(message.chat_id).toBe(`${phone}@s.whatsapp.net`);
    expect((await talk.received(phone, { text: 'which chat is it?' })).fromMe).toBe(false);
    expect((await talk.fromPhone(phone, { text: 'this one' })).chat_id).toBe(message.chat_id);
    for (const to of [typed, `${typed}@s.whatsapp.net`, phone, typed, phone]) {
      expect((await talk.send({ to, body: 'and again' })).chat_id).toBe(message.chat_id);
    }
    expect(queries).toBe(2); // one for each spelling
    await talk.stopWorker();
    await talk.startWorker();
    await count();
    expect((await talk.send({ to: typed, body: 'says the next worker' })).chat_id).toBe(message.chat_id);
    expect(queries).toBe(0);
  });

  it('of another country is never queried before a send', async () => {
    await count();
    await talk.send({ to: talk.ada, body: 'no query' });
    expect(queries).toBe(0);
  });

  it('that is unknown is not queried again at once; nothing is remembered of a refused query', async () => {
    await count();
    const check = () =>
      talk.result<CheckContactsResult>({ contacts: ['15550009990', talk.ada] }, { name: 'contacts.check' });
    const end = await talk.fault({ kind: 'refuse-iq', xmlns: 'usync', count: 1 });
    expect(await talk.call({ contacts: ['15550009990'] }, { name: 'contacts.check' })).toMatchObject({ ok: false });
    await end().catch(() => undefined);
    expect((await check()).contacts.map(({ status }) => status)).toEqual(['invalid', 'valid']);
    expect(queries).toBe(2);
    expect((await check()).contacts.map(({ status }) => status)).toEqual(['invalid', 'valid']);
    expect(queries).toBe(2);
  });

  it('that is not on the network gets no invitation to a group that is created with it', async () => {
    const participants = [talk.ada, '15550009990'];
    const group = await talk.result<GroupCreateResult>({ subject: 'Some', participants }, { name: 'groups.create' });
    expect(group.unprocessed_participants).toEqual(['15550009990']);
    expect(group.invites).toBeUndefined();
  });
});
