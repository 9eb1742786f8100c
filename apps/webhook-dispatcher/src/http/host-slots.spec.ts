import { jest } from '@jest/globals';
import { HostSlots } from './host-slots.js';

const HOST = 'https://hooks.example.com';

describe('HostSlots', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('gives a freed slot to who waited longest', async () => {
    const slots = new HostSlots({ perHost: 1, waitMs: 1_000 });
    const release = await slots.take(HOST, false);
    const order: string[] = [];
    const second = slots.take(HOST, false).then((freed) => (order.push('second'), freed));
    release?.();
    (await second)?.();
    expect(await slots.take(HOST, false)).toBeDefined();
    expect(order).toEqual(['second']);
  });

  it('lets a webhook wait no longer than said, and no more of them than there are slots', async () => {
    const slots = new HostSlots({ perHost: 1, waitMs: 1_000 });
    await slots.take(HOST, false);
    const waiting = slots.take(HOST, false);
    expect(await slots.take(HOST, false)).toBeUndefined();
    jest.advanceTimersByTime(1_000);
    expect(await waiting).toBeUndefined();
  });

  it('keeps half of a host for webhooks that did not fail', async () => {
    const slots = new HostSlots({ perHost: 4, waitMs: 1_000 });
    const failing = [await slots.take(HOST, true), await slots.take(HOST, true)];
    const third = slots.take(HOST, true);
    expect(await slots.take(HOST, false)).toBeDefined();
    expect(await slots.take(HOST, false)).toBeDefined();
    failing[0]?.();
    expect(await third).toBeDefined();
  });

  it('does not let one host wait for another', async () => {
    const slots = new HostSlots({ perHost: 1, waitMs: 1_000 });
    await slots.take(HOST, false);
    expect(await slots.take('https://other.example.com', false)).toBeDefined();
  });
});
