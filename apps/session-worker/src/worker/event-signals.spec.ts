import type { ChannelRecord } from '@dormouse/channel-directory';
import { DEFAULT_SETTINGS } from '@dormouse/gateway-contract';
import { EventSignals } from './event-signals.js';

function setup(channels: Record<string, number | 'away'>) {
  const dispatcher: string[] = [];
  const pullers: (readonly string[])[] = [];
  const signals = new EventSignals({
    directory: {
      byId: (id) => {
        const webhooks = channels[id];
        if (webhooks === 'away') return Promise.reject(new Error('away'));
        const settings = { ...DEFAULT_SETTINGS, webhooks: Array.from({ length: webhooks ?? 0 }, () => ({})) };
        return Promise.resolve({ id, settings } as unknown as ChannelRecord);
      },
    },
    notifyDispatcher: (id) => Promise.resolve(void dispatcher.push(id)),
    notifyPullers: (ids) => Promise.resolve(void pullers.push(ids)),
  });
  return { signals, dispatcher, pullers };
}

describe('EventSignals', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('notifies the dispatcher at once of every event of a channel with webhooks', async () => {
    const { signals, dispatcher, pullers } = setup({ a: 1 });
    signals.ready('a');
    signals.ready('a');
    await jest.advanceTimersByTimeAsync(0);
    expect(dispatcher).toEqual(['a', 'a']);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(pullers).toEqual([]);
  });

  it('notifies pullers of a channel without webhooks once for all events of a moment, and again for later ones', async () => {
    const { signals, dispatcher, pullers } = setup({ a: 0, b: 0 });
    for (const id of ['a', 'a', 'b', 'a']) signals.ready(id);
    await jest.advanceTimersByTimeAsync(100);
    expect(pullers).toEqual([['a', 'b']]);
    signals.ready('a');
    await jest.advanceTimersByTimeAsync(100);
    expect(pullers).toEqual([['a', 'b'], ['a']]);
    expect(dispatcher).toEqual([]);
  });

  it('notifies the dispatcher when it is not known whether there are webhooks', async () => {
    const { signals, dispatcher } = setup({ a: 'away' });
    signals.ready('a');
    await jest.advanceTimersByTimeAsync(0);
    expect(dispatcher).toEqual(['a']);
  });
});
