import { deferred } from '../socket/deferred.js';
import { WaitingChats } from './waiting-chats.js';

function chats() {
  const stored: string[] = [];
  let tail = Promise.resolve();
  const waiting = new WaitingChats({
    enqueue: (work) => {
      tail = tail.then(work);
    },
    attempt: (work) => work().catch(() => void stored.push('failed')),
  });
  const add = (chat: string, name: string, ready: Promise<unknown> = Promise.resolve()) =>
    waiting.add(chat, { ready, store: async () => void stored.push(name) });
  const settled = async () => {
    await new Promise<void>((resolve) => setImmediate(resolve));
    await tail;
  };
  return { waiting, stored, add, settled };
}

describe('WaitingChats', () => {
  it('stores what waits in its order, whatever is ready first, and holds no other chat', async () => {
    const { waiting, stored, add, settled } = chats();
    const file = deferred<void>();
    add('a', 'a1', file.promise);
    add('a', 'a2');
    add('b', 'b1');
    await settled();
    expect(stored).toEqual(['b1']);
    expect([waiting.has('a'), waiting.has('b')]).toEqual([true, false]);
    file.resolve();
    await settled();
    expect(stored).toEqual(['b1', 'a1', 'a2']);
    expect(waiting.has('a')).toBe(false);
  });

  it('stores all at once on request, and nothing twice', async () => {
    const { waiting, stored, add, settled } = chats();
    const file = deferred<void>();
    add('a', 'a1', file.promise);
    add('b', 'b1', file.promise);
    await waiting.flush();
    expect(stored).toEqual(['a1', 'b1']);
    file.resolve();
    await settled();
    expect(stored).toEqual(['a1', 'b1']);
  });

  it('goes on after one that cannot be stored', async () => {
    const { waiting, stored, add, settled } = chats();
    waiting.add('a', { ready: Promise.resolve(), store: () => Promise.reject(new Error('broken')) });
    add('a', 'a2');
    await settled();
    expect(stored).toEqual(['failed', 'a2']);
    expect(waiting.has('a')).toBe(false);
  });
});
