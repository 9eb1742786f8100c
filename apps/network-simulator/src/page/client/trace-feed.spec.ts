import type { TracedStanza } from './api.js';
import { TraceFeed } from './trace-feed.js';

const START_MS = Date.parse('2030-01-01T00:00:00Z');

const entry = (seq: number, atMs = seq * 1000): TracedStanza => ({
  seq,
  connection: 1,
  direction: 'in',
  at: new Date(START_MS + atMs).toISOString(),
  stanza: { tag: 'iq' },
});

describe('the trace as the page reads it', () => {
  let passed: TracedStanza[];
  let requests: { limit: number; after?: number }[];
  let feed: TraceFeed;

  beforeEach(() => {
    passed = [];
    requests = [];
    feed = new TraceFeed((query) => {
      requests.push(query);
      return Promise.resolve(passed.filter(({ seq }) => seq > (query.after ?? 0)).slice(-query.limit));
    });
  });

  const seqs = async (): Promise<number[]> => (await feed.read()).map(({ seq }) => seq);

  it('requests only what is new or may have changed', async () => {
    expect(await seqs()).toEqual([]);
    for (let seq = 1; seq <= 10; seq++) passed.push(entry(seq));
    expect(await seqs()).toHaveLength(10);
    passed.push(entry(11));
    expect(await seqs()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(requests.map(({ after }) => after)).toEqual([undefined, undefined, 7]);
  });

  it('has the content of a message that was decrypted after its stanza passed', async () => {
    passed = [entry(1), entry(2)];
    await feed.read();
    passed = [entry(1, 1000), { ...entry(2), message: { conversation: 'hello' } }, entry(3, 9000)];
    const known = await feed.read();
    expect(known.map(({ message }) => message)).toEqual([undefined, { conversation: 'hello' }, undefined]);
  });

  it('holds the newest thousand, also when more than that came since it read last', async () => {
    passed = [entry(1)];
    await feed.read();
    for (let seq = 2; seq <= 3000; seq++) passed.push(entry(seq, 1000 + seq));
    const known = await seqs();
    expect([known.length, known[0], known.at(-1)]).toEqual([1000, 2001, 3000]);
    passed.push(entry(3001, 4500));
    expect((await seqs()).slice(0, 1)).toEqual([2002]);
  });

  it('begins anew when the network was reset or started again', async () => {
    passed = [entry(1), entry(2), entry(3)];
    await feed.read();
    passed = [];
    expect(await seqs()).toEqual([]);
    passed = [entry(1), entry(2), entry(3)];
    await feed.read();
    passed = [entry(1, 70_000), entry(2, 70_000), entry(3, 70_000)];
    expect((await feed.read()).map(({ at }) => at)).toEqual(passed.map(({ at }) => at));
  });
});
