import { HostSlots } from './host-slots.js';

const HOST = 'https://hooks.example.com';

describe('HostSlots', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('gives a freed slot to the longest waiting', async () => {
    const slots = new HostSlots({ perHost: 1, waitMs: 1_000 });
    const release = await slots.acquire(HOST, false);
    const order: string[] = [];
    const second = slots.acquire(HOST, false).then((freed) => (order.push('second'), freed));
    release?.();
    (await second)?.();
    expect(await slots.acquire(HOST, false)).toBeDefined();
    expect(order).toEqual(['second']);
  });

  it('lets a webhook wait no longer than its limit, and no more of them than there are slots', async () => {
    const slots = new HostSlots({ perHost: 1, waitMs: 1_000 });
    await slots.acquire(HOST, false);
    const waiting = slots.acquire(HOST, false);
    expect(await slots.acquire(HOST, false)).toBeUndefined();
    jest.advanceTimersByTime(1_000);
    expect(await waiting).toBeUndefined();
  });

  it('keeps half of a host for webhooks that did not fail', async () => {
    const slots = new HostSlots({ perHost: 4, waitMs: 1_000 });
    const failing = [await slots.acquire(HOST, true), await slots.acquire(HOST, true)];
    const third = slots.acquire(HOST, true);
    expect(await slots.acquire(HOST, false)).toBeDefined();
    expect(await slots.acquire(HOST, false)).toBeDefined();
    failing[0]?.();
    expect(await third).toBeDefined();
  });

  it('does not let one host wait for another', async () => {
    const slots = new HostSlots({ perHost: 1, waitMs: 1_000 });
    await slots.acquire(HOST, false);
    expect(await slots.acquire('https://other.example.com', false)).toBeDefined();
  });
});
