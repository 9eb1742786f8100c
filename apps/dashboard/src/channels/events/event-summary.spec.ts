import { eventSummary } from './event-summary.js';

describe('eventSummary', () => {
  it('names the event, and gives a line of what can be read of it', () => {
    const event = { type: 'messages', event: 'post' };
    const message = { from: '4915112345678', type: 'text', text: { body: 'Hello' } };
    expect(eventSummary({ body: { event, messages: [message] } })).toEqual({
      name: 'messages.post',
      text: '4915112345678: Hello',
    });
    expect(eventSummary({ body: { event, messages: [{ from: '49', type: 'image' }] } }).text).toBe('49: image');
    expect(eventSummary({ body: { event, statuses: [{ status: 'read', id: 'm1' }] } }).text).toBe('read m1');
  });

  it('takes an event that it does not know', () => {
    expect(eventSummary({ body: { event: 7, messages: 'none' } })).toEqual({ name: '', text: '' });
  });
});
