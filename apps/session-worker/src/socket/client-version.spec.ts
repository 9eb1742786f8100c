import { ClientVersion } from './client-version.js';

describe('ClientVersion', () => {
  it("is the library's own until the network calls it outdated, then the network's newest", async () => {
    const version = new ClientVersion(() => Promise.resolve([2, 3000, 7]));
    expect(version.current).toBeUndefined();
    await version.outdated();
    expect(version.current).toEqual([2, 3000, 7]);
  });

  it('queries once for all sessions that are refused together, and again only after a while', async () => {
    let [queries, nowMs] = [0, 0];
    const query = (): Promise<[number, number, number]> => Promise.resolve([2, 3000, ++queries]);
    const version = new ClientVersion(query, () => nowMs);
    await Promise.all(Array.from({ length: 200 }, () => version.outdated()));
    expect(queries).toBe(1);
    nowMs = 600_000;
    await version.outdated();
    expect(version.current).toEqual([2, 3000, 2]);
  });

  it('keeps the known version when the query fails', async () => {
    const version = new ClientVersion(() => Promise.reject(new Error('away')));
    await version.outdated();
    expect(version.current).toBeUndefined();
  });
});
