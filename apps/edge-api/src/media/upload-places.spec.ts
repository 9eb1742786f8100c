import { UploadPlaces } from './upload-places.js';

const LONG_MS = 60_000;

describe('UploadPlaces', () => {
  it('gives a channel a number of places, in the order of requests, and other channels their own', async () => {
    const places = new UploadPlaces({ perChannel: 2, waitMs: LONG_MS });
    const [a, b, c, d] = Array.from({ length: 4 }, () => places.open('A'));
    await a?.take();
    await b?.take();
    const order: string[] = [];
    const waiting = [c?.take().then(() => order.push('c')), d?.take().then(() => order.push('d'))];
    await places.open('B').take();
    expect(order).toEqual([]);
    a?.leave();
    await waiting[0];
    expect(order).toEqual(['c']);
    b?.leave();
    await waiting[1];
    expect(order).toEqual(['c', 'd']);
  });

  it('rejects with 429 what waited too long, and its turn is not lost', async () => {
    const places = new UploadPlaces({ perChannel: 1, waitMs: 10 });
    const [first, second, third] = [places.open('A'), places.open('A'), places.open('A')];
    await first.take();
    await expect(second.take()).rejects.toMatchObject({ status: 429, retryAfterS: 5 });
    second.leave();
    first.leave();
    await third.take();
    third.leave();
    await Promise.resolve();
    expect(places.channels).toBe(0);
  });

  it('counts a request once, however many parts of it ask, and takes back what it left while it waited', async () => {
    const places = new UploadPlaces({ perChannel: 1, waitMs: LONG_MS });
    const [first, gone, next] = [places.open('A'), places.open('A'), places.open('A')];
    await Promise.all([first.take(), first.take()]);
    const waiting = gone.take();
    gone.leave();
    first.leave();
    first.leave();
    await waiting;
    await next.take();
  });
});
