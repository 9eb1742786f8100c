import type { Message } from '@dormouse/gateway-contract';
import type { ChatTimer } from '@dormouse/message-store/write';
import { ChatTimers } from '../socket/chat-timers.js';
import { learnTimers } from './chat-timers.js';
import { fakeSession } from './fake-session.js';

const ADA = '15550001111@s.whatsapp.net';

function setup(stored?: ChatTimer) {
  let reads = 0;
  const timers = new ChatTimers(() => {
    reads += 1;
    return Promise.resolve(stored);
  });
  const session = fakeSession('c', { shard: 0, epoch: 1n });
  const receive = (...messages: Partial<Message>[]) =>
    learnTimers(
      { session, timers },
      messages.map((message) => ({
        id: 'm',
        type: 'text',
        chat_id: ADA,
        from_me: false,
        source: 'mobile',
        timestamp: 100,
        ...message,
      })),
    );
  return { receive, timer: () => timers.of(session, ADA), reads: () => reads };
}

const set = (ephemeral: number, timestamp: number, fromMe = false): Partial<Message> => ({
  type: 'action',
  action: { type: 'ephemeral', ephemeral },
  from_me: fromMe,
  timestamp,
});

describe('the timer of a chat', () => {
  it('is learnt from its setting by either side, and from messages that disappear; off is learnt, too', async () => {
    const { receive, timer } = setup();
    expect(receive(set(604_800, 100))).toEqual([{ id: ADA, timer: { seconds: 604_800, setAtS: 100 } }]);
    expect(receive({ context: { ephemeral: 604_800 }, timestamp: 101 })).toEqual([]);
    expect(await timer()).toMatchObject({ seconds: 604_800 });
    expect(receive(set(0, 102, true))).toMatchObject([{ timer: { seconds: 0 } }]);
    expect(await timer()).toMatchObject({ seconds: 0 });
    expect(receive({ context: { ephemeral: 86_400 }, timestamp: 103 })).toHaveLength(1);
    expect(await timer()).toMatchObject({ seconds: 86_400 });
  });

  it('is not changed by what is older than its setting, by a message that stays, or by one of a group', async () => {
    const { receive, timer } = setup();
    receive(set(0, 100));
    expect(receive({ context: { ephemeral: 86_400 }, timestamp: 99 }, {}, set(86_400, 98))).toEqual([]);
    expect(receive({ ...set(86_400, 101), chat_id: '120363000000000001@g.us' })).toEqual([]);
    expect(await timer()).toMatchObject({ seconds: 0 });
  });

  it('is read from the store once for each socket', async () => {
    const { timer, reads } = setup({ seconds: 604_800, setAtS: 50 });
    expect([await timer(), await timer()].map((found) => found?.seconds)).toEqual([604_800, 604_800]);
    expect(reads()).toBe(1);
  });
});
