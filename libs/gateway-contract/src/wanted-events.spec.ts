import { wantedEvents } from './webhook-events.js';

describe('wantedEvents', () => {
  it('reads deprecated names, takes a missing method for all of them, and names each event once', () => {
    const events = [
      { type: 'message' as const, method: 'post' as const },
      { type: 'messages' as const, method: 'post' as const },
      { type: 'ack' as const },
      { type: 'status' as const },
      { type: 'chat' as const, method: 'delete' as const },
    ];
    expect(wantedEvents({ events })).toEqual([
      'messages.post',
      'statuses.post',
      'statuses.put',
      'channel.post',
      'channel.patch',
      'chats.delete',
    ]);
  });

  it('is nothing for a webhook without events', () => {
    expect(wantedEvents({ events: [] })).toEqual([]);
  });
});
