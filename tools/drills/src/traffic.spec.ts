import type { Delivery } from './receiver.js';
import { deliveryFaults } from './traffic.js';

const written = ['one', 'two', 'three'].map((text) => ({ channelId: 'a', text }));

function delivered(...texts: string[]): Delivery[] {
  return texts.map((text, index) => ({ channelId: 'a', text, eventId: text, messageId: text, sequence: index }));
}

describe('the oracle of deliveries', () => {
  it('finds nothing wrong when a call is repeated under the id of its event', () => {
    const [one, two, three] = delivered('one', 'two', 'three');
    const calls = [one, two, one, three].flatMap((call) => call ?? []);
    expect(deliveryFaults(written, calls)).toEqual({
      undelivered: [],
      deliveredTwice: [],
      disordered: [],
      overtaken: 0,
    });
  });

  it('names what is missing, what came as two events, and what came after a higher number', () => {
    const again = delivered('one').map((each) => ({ ...each, eventId: 'another' }));
    const [one, two, three] = delivered('one', 'two', 'three');
    expect(deliveryFaults(written, delivered('one', 'three'))).toMatchObject({ undelivered: ['two'], disordered: [] });
    expect(deliveryFaults(written, [...delivered('one', 'two', 'three'), ...again]).deliveredTwice).toEqual(['one']);
    const calls = [two, one, three].flatMap((call) => call ?? []);
    expect(deliveryFaults(written, calls).disordered).toEqual(['one: number 0 after 1']);
  });

  it('counts what was stored after one that was written later, and compares each number by itself', () => {
    expect(deliveryFaults(written, delivered('two', 'one', 'three'))).toMatchObject({ disordered: [], overtaken: 1 });
    const others = [...written, { channelId: 'b', text: 'other' }];
    expect(deliveryFaults(others, delivered('one', 'other', 'two', 'three')).overtaken).toBe(0);
  });
});
