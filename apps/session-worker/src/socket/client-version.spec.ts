import { ClientVersion } from './client-version.js';

describe('ClientVersion', () => {
  it("is the library's own until the network calls it outdated, then the network's newest", async () => {
    const version = new ClientVersion(() => Promise.resolve([2, 3000, 7]));
    expect(version.current).toBeUndefined();
    await version.outdated();
    expect(version.current).toEqual([2, 3000, 7]);
  });

  it('asks once for all sessions that are refused together, and again only after a while', async () => {
    let [asked, nowMs] = [0, 0];
    const ask = (): Promise<[number, number, number]> => Promise.resolve([2, 3000, ++asked]);
    const version = new ClientVersion(ask, () => nowMs);
    await Promise.all(Array.from({ length: 200 }, () => version.outdated()));
    expect(asked).toBe(1);
    nowMs = 600_000;
    await version.outdated();
    expect(version.current).toEqual([2, 3000, 2]);
  });

  it('keeps what it has when the network does not tell', async () => {
    const version = new ClientVersion(() => Promise.reject(new Error('away')));
    await version.outdated();
    expect(version.current).toBeUndefined();
  });
});
