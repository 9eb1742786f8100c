import type { ChannelRecord } from '@dormouse/channel-directory';
import { DEFAULT_SETTINGS, type ChannelEvent } from '@dormouse/gateway-contract';
import type { EventWriter } from '@dormouse/message-store/write';
import { fakeSession } from './fake-session.js';
import { LiveEvents } from './live-events.js';

const ADA = '15550001111@s.whatsapp.net';
const BO = '15550002222@s.whatsapp.net';

describe('presences', () => {
  it('are notified, except those of chats that the settings ignore', async () => {
    const notified: ChannelEvent[] = [];
    const settings = { ...DEFAULT_SETTINGS, ignored_presences: [BO] };
    const live = new LiveEvents({
      directory: { byId: () => Promise.resolve({ settings } as ChannelRecord) },
      events: {
        append: (_fence: unknown, _channelId: string, events: readonly ChannelEvent[]) => {
          notified.push(...events);
          return Promise.resolve([1]);
        },
      } as unknown as EventWriter,
      eventsReady: () => undefined,
      retryForMs: 1_000,
      now: Date.now,
      wait: () => Promise.resolve(),
    });
    const session = fakeSession('c', { shard: 1, epoch: 1n });
    const attachment = live.attach(session);
    for (const id of [BO, ADA]) {
      session.library.ev.emit('presence.update', { id, presences: { [id]: { lastKnownPresence: 'composing' } } });
    }
    await attachment.drained();
    expect(session.faults).toEqual([]);
    expect(notified).toMatchObject([{ type: 'presences', payload: { presences: [{ contact_id: '15550001111' }] } }]);
  });
});
