import { eventForWebhook, wantedEvents } from './webhook-events.js';

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
      'messages.put',
    ]);
  });

  it('is nothing for a webhook without events', () => {
    expect(wantedEvents({ events: [] })).toEqual([]);
  });

  it('delivers both kinds of new messages to a subscriber of either, under the subscribed method', () => {
    const byPut = { events: [{ type: 'message' as const, method: 'put' as const }] };
    const byPost = { events: [{ type: 'messages' as const, method: 'post' as const }] };
    const all = { events: [{ type: 'messages' as const }] };
    expect(wantedEvents(byPut)).toEqual(['messages.put', 'messages.post']);
    expect(wantedEvents(byPost)).toEqual(['messages.post', 'messages.put']);
    const written = (method: 'post' | 'put' | 'patch') => ({ type: 'messages' as const, method, payload: {} });
    const methodsFor = (entry: Parameters<typeof eventForWebhook>[0]) =>
      [written('post'), written('put')].map((event) => eventForWebhook(entry, event).method);
    expect([methodsFor(byPut), methodsFor(byPost), methodsFor(all)]).toEqual([
      ['put', 'put'],
      ['post', 'post'],
      ['post', 'put'],
    ]);
    expect(eventForWebhook(byPut, written('patch')).method).toBe('patch');
  });

  it('delivers receipts as put only to a webhook that subscribes to put alone', () => {
    const receipt = { type: 'statuses' as const, method: 'post' as const, payload: {} };
    expect(eventForWebhook({ events: [{ type: 'statuses', method: 'put' }] }, receipt).method).toBe('put');
    expect(eventForWebhook({ events: [{ type: 'ack' }] }, receipt).method).toBe('post');
  });

  it('delivers a change of a chat once: before and after, or the whole chat to a webhook that subscribes to put alone', () => {
    const [was, is] = [
      { id: '1@s.whatsapp.net', pin: false },
      { id: '1@s.whatsapp.net', pin: true },
    ];
    const chats_updates = [{ before_update: was, after_update: is, changes: ['pin'] }];
    const change = { type: 'chats' as const, method: 'patch' as const, payload: { chats_updates } };
    const whole = { events: [{ type: 'chats' as const, method: 'put' as const }] };
    expect(wantedEvents(whole)).toEqual(['chats.put', 'chats.patch']);
    expect(eventForWebhook(whole, change)).toEqual({ type: 'chats', method: 'put', payload: { chats: [is] } });
    expect(eventForWebhook({ events: [{ type: 'chat' }] }, change)).toEqual(change);
  });

  it('leaves other kinds as they are', () => {
    const group = { type: 'groups' as const, method: 'post' as const, payload: {} };
    const members = { events: [{ type: 'groups' as const, method: 'put' as const }] };
    expect(wantedEvents(members)).toEqual(['groups.put']);
    expect(eventForWebhook(members, group)).toEqual(group);
  });
});
