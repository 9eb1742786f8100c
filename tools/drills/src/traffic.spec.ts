import type { Delivery } from './receiver.js';
import { deliveryFaults } from './traffic.js';

const written = ['one', 'two', 'three'].map((text) => ({ channelId: 'a', text }));

function delivered(...texts: string[]): Delivery[] {
  return texts.map((text, index) => ({ channelId: 'a', text, eventId: text, messageId: text, sequence: index }));
}

describe('the oracle of deliveries', () => {
  it('finds nothing wrong when a call is repeated under the id of its event', () => {
    const faults = deliveryFaults(written, delivered('one', 'two', 'two', 'three'));
    expect(faults).toEqual({ undelivered: [], deliveredTwice: [], disordered: [] });
  });

  it('names what is missing, what came as two events, and what came in the wrong place', () => {
    const again = delivered('one').map((each) => ({ ...each, eventId: 'another' }));
    expect(deliveryFaults(written, delivered('one', 'three'))).toMatchObject({ undelivered: ['two'], disordered: [] });
    expect(deliveryFaults(written, [...delivered('one', 'two', 'three'), ...again]).deliveredTwice).toEqual(['one']);
    expect(deliveryFaults(written, delivered('two', 'one', 'three')).disordered).toEqual(['two in the place of one']);
  });

  it('does not compare the order of different numbers', () => {
    const others = [{ channelId: 'b', text: 'other' }, ...written];
    expect(deliveryFaults(others, delivered('one', 'other', 'two', 'three')).disordered).toEqual([]);
  });
});
