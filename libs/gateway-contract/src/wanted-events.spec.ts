import { toldAs, wantedEvents } from './webhook-events.js';

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

  it('takes put alone, the default of the compatible gateway, as another name of post', () => {
    const byPut = { events: [{ type: 'message' as const, method: 'put' as const }] };
    expect(wantedEvents(byPut)).toEqual(['messages.put', 'messages.post']);
    expect(toldAs(byPut, { type: 'messages', method: 'post' })).toBe('put');
    expect(toldAs(byPut, { type: 'messages', method: 'patch' })).toBe('patch');
    const all = { events: [{ type: 'messages' as const }] };
    expect(toldAs(all, { type: 'messages', method: 'post' })).toBe('post');
    expect(toldAs({ events: [{ type: 'groups', method: 'put' }] }, { type: 'groups', method: 'post' })).toBe('post');
  });
});
