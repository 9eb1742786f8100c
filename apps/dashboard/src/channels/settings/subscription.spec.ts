import { DEPRECATED_EVENT_TYPES, WEBHOOK_EVENT_METHODS } from '@dormouse/gateway-contract';
import { EVENT_METHODS, FORMER_NAMES, isSubscribed, withSubscribed, type Subscription } from './subscription.js';

describe('the subscription of a webhook', () => {
  it('has the types, methods and former names of the gateway', () => {
    expect(EVENT_METHODS).toEqual(WEBHOOK_EVENT_METHODS);
    expect(FORMER_NAMES).toEqual(DEPRECATED_EVENT_TYPES);
  });

  it('shows an entry without a method as every method, and a former name as its type', () => {
    const events: Subscription = [{ type: 'ack' }, { type: 'messages', method: 'put' }];
    expect(isSubscribed(events, 'statuses', 'put')).toBe(true);
    expect(isSubscribed(events, 'messages', 'put')).toBe(true);
    expect(isSubscribed(events, 'messages', 'post')).toBe(false);
    expect(isSubscribed(events, 'chats', 'post')).toBe(false);
  });

  it('changes one box, and keeps the others of the type', () => {
    const all: Subscription = [{ type: 'statuses' }];
    expect(withSubscribed(all, { type: 'statuses', method: 'put' }, false)).toEqual([
      { type: 'statuses', method: 'post' },
    ]);
    expect(withSubscribed(all, { type: 'messages', method: 'post' }, true)).toEqual([
      { type: 'statuses' },
      { type: 'messages', method: 'post' },
    ]);
  });

  it('keeps what it does not know, as it is written', () => {
    const foreign = JSON.parse(
      '[{"type":"of_a_later_version","method":"post","extra":1},{"type":"ack"}]',
    ) as Subscription;
    const changed = withSubscribed(foreign, { type: 'calls', method: 'post' }, true);
    expect(changed).toEqual([...foreign, { type: 'calls', method: 'post' }]);
    expect(withSubscribed(changed, { type: 'calls', method: 'post' }, false)).toEqual(foreign);
  });
});
