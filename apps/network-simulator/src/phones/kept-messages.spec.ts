import type { Store } from '../store/store.js';
import { KeptMessages } from './kept-messages.js';
import { MessageLog } from './message-log.js';

const store = { append: () => undefined } as unknown;

function newLog(kept: KeptMessages): MessageLog {
  return new MessageLog(store as Store, 'log', { kept });
}

function add(log: MessageLog, count: number, chat = 'chat'): void {
  for (let index = 0; index < count; index++) log.add(messageOf(`${chat}-${index}`, chat));
}

const messageOf = (id: string, chat: string) => ({
  id,
  chat,
  from: chat,
  fromMe: false,
  type: 'text',
  text: id,
  timestamp: 0,
  deliveries: 1,
  status: 'delivered' as const,
  content: Buffer.from(id),
  wireChat: chat,
});

describe('the messages that phones hold', () => {
  it('are no more than the bound, however many come: the oldest go', () => {
    const log = newLog(new KeptMessages(100, 10));
    add(log, 1000);
    expect(log.all().map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, index) => `chat-${900 + index}`));
    expect(log.get('chat-899')).toBeUndefined();
    expect(log.get('chat-999')?.text).toBe('chat-999');
  });

  it('go from the phone that has many, not from one that has few', () => {
    const kept = new KeptMessages(100, 10);
    const [quiet, busy] = [newLog(kept), newLog(kept)];
    add(quiet, 10);
    add(busy, 1000);
    expect(quiet.size).toBe(10);
    expect(busy.size).toBe(100);
    add(quiet, 90, 'later');
    expect(quiet.size + busy.size).toBeLessThanOrEqual(110);
  });

  it('leave a past that was made up, which is as long as it was asked for', () => {
    const log = newLog(new KeptMessages(100, 10));
    for (let index = 0; index < 500; index++) log.addPast(messageOf(`past-${index}`, 'chat'));
    expect(log.size).toBe(500);
  });
});
