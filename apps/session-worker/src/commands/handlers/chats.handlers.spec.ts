import type { Chat } from '@dormouse/gateway-contract';
import type { ChatWriter } from '@dormouse/message-store/write';
import { testNetwork } from '../../socket/test-network.js';
import type { CommandContext } from '../command-context.js';
import { chatHandlers } from './chats.handlers.js';

const CHAT: Chat = { id: '15550001111@s.whatsapp.net', type: 'contact', timestamp: 1 };

describe('chats.delete', () => {
  /** The calls, in order. */
  const done: string[] = [];
  const tools = {
    reader: { chat: (_channelId: string, id: string) => Promise.resolve(id === CHAT.id ? CHAT : undefined) },
    chats: {
      lastMoments: () => Promise.resolve([]),
      deleteChat: () => (done.push('remove it from the store'), Promise.resolve({ seqs: [1] })),
      finishRemovals: () => (done.push('remove its rest from the store'), Promise.resolve()),
    } as unknown as ChatWriter,
    eventsReady: () => void done.push('notify'),
  };
  const session = {
    fence: { shard: 1, epoch: 1n },
    network: testNetwork({ chatModify: () => (done.push('remove it on the phone'), Promise.resolve()) }),
    forgetSettled: () => (done.push('forget its settled messages'), Promise.resolve()),
  };
  const context = { channelId: 'c', session: () => session } as unknown as CommandContext;
  const { 'chats.delete': handler } = chatHandlers(tools);
  const run = (chatId: string) => {
    if (typeof handler !== 'function') throw new Error('not expected: it has a preparation');
    return handler(context, { chatId });
  };
  beforeEach(() => done.splice(0));

  it('forgets what the journal holds of its messages before they are removed, so that none comes back', async () => {
    expect(await run(CHAT.id)).toEqual({ success: true });
    expect(done).toEqual([
      'remove it on the phone',
      'forget its settled messages',
      'remove it from the store',
      'notify',
      'remove its rest from the store',
    ]);
  });

  it('does nothing to a chat that is not there: 404', async () => {
    await expect(run('15550002222@s.whatsapp.net')).rejects.toMatchObject({ status: 404 });
    expect(done).toEqual([]);
  });
});
