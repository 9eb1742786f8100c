import { CHANNEL, TestConversation } from './test-conversation.js';

jest.setTimeout(30_000);

describe('a send to a chat whose messages disappear', () => {
  const talk = new TestConversation();
  let ada: string;
  let chatId: string;

  beforeAll(async () => {
    await talk.start();
    ({ ada } = talk);
    chatId = `${ada}@s.whatsapp.net`;
    await talk.send({ to: ada, body: 'first of all' });
  });
  afterAll(() => talk.stop());

  const setTimer = async (ephemeral: string, seconds: number) => {
    await talk.result({ chatId, ephemeral }, { name: 'chats.update' });
    await talk.until(async () => {
      const stored = await talk.reader.chatTimer(CHANNEL, chatId);
      return stored?.seconds === seconds ? true : undefined;
    });
  };
  const lifetime = async (text: string) => (await talk.received(ada, { text })).ephemeralSeconds;

  it('follows the timer of the chat, whatever is sent, until it is switched off', async () => {
    await setTimer('week', 604_800);
    const message = await talk.send({ to: ada, body: 'gone in a week' });
    expect(message.context).toEqual({ ephemeral: 604_800 });
    expect(await lifetime('gone in a week')).toBe(604_800);
    await talk.send({ to: ada, title: 'gone, too', options: ['a', 'b'], count: 1 }, { name: 'messages.sendPoll' });
    await talk.send({ messageId: message.id, to: ada }, { name: 'messages.forward' });
    await talk.send({ to: ada, body: 'gone in a day', ephemeral: 86_400 });
    expect(await lifetime('gone in a day')).toBe(86_400);
    const shown = await talk.network.call<{ ephemeralSeconds?: number }[]>('GET', `/phones/${ada}/messages`);
    expect(shown.slice(-4).map(({ ephemeralSeconds }) => ephemeralSeconds)).toEqual([
      604_800, 604_800, 604_800, 86_400,
    ]);
    await talk.stopWorker();
    await talk.startWorker();
    await talk.send({ to: ada, body: 'gone, says the next worker' });
    expect(await lifetime('gone, says the next worker')).toBe(604_800);
    await setTimer('none', 0);
    const kept = await talk.send({ to: ada, body: 'here to stay' });
    expect(kept.context).toBeUndefined();
    expect(await lifetime('here to stay')).toBeUndefined();
  });
});
