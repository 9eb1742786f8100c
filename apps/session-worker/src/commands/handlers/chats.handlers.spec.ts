import type { Chat } from '@dormouse/gateway-contract';
import type { ChatWriter } from '@dormouse/message-store/write';
import { testNetwork } from '../../socket/test-network.js';
import type { CommandContext } from '../command-context.js';
import { chatHandlers } from './chats.handlers.js';

const CHAT: Chat = { id: '15550001111@s.whatsapp.net', type: 'contact', timestamp: 1 };

describe('chats.delete', () => {
  /** What is done, in order. */
  const done: string[] = [];
  const tools = {
    reader: { chat: (_channelId: string, id: string) => Promise.resolve(id === CHAT.id ? CHAT : undefined) },
    chats: {
      lastMoments: () => Promise.resolve([]),
      deleteChat: () => (done.push('remove it here'), Promise.resolve({ seqs: [1] })),
      finishRemovals: () => (done.push('remove the rest of it'), Promise.resolve()),
    } as unknown as ChatWriter,
    eventsReady: () => void done.push('tell it'),
  };
  const session = {
    fence: { shard: 1, epoch: 1n },
    network: testNetwork({ chatModify: () => (done.push('remove it on the phone'), Promise.resolve()) }),
    forgetSettled: () => (done.push('forget what is kept of its messages'), Promise.resolve()),
  };
  const context = { channelId: 'c', session: () => session } as unknown as CommandContext;
  const { 'chats.delete': handler } = chatHandlers(tools);
  const run = (chatId: string) => {
    if (typeof handler !== 'function') throw new Error('it has a preparation');
    return handler(context, { chatId });
  };
  beforeEach(() => done.splice(0));

  it('keeps nothing that would bring its messages back before they are removed', async () => {
    expect(await run(CHAT.id)).toEqual({ success: true });
    expect(done).toEqual([
      'remove it on the phone',
      'forget what is kept of its messages',
      'remove it here',
      'tell it',
      'remove the rest of it',
    ]);
  });

  it('does nothing to a chat that is not there: 404', async () => {
    await expect(run('15550002222@s.whatsapp.net')).rejects.toMatchObject({ status: 404 });
    expect(done).toEqual([]);
  });
});
