import pg from 'pg';
import { GroupedWrites, type Outcome } from './grouped-writes.js';

interface Item {
  readonly channelId: string;
  readonly text: string;
}

describe('GroupedWrites', () => {
  /** Writes that end when the spec ends them; each is the texts it was given, those of a group in brackets. */
  let begun: { texts: string; end: (outcome: Outcome<string>[] | Error) => void }[];
  let writes: GroupedWrites<Item, string>;

  const begin = (texts: string) =>
    new Promise<Outcome<string>[]>((resolve, reject) => {
      begun.push({ texts, end: (ended) => (ended instanceof Error ? reject(ended) : resolve(ended)) });
    });
  const write = (channelId: string, text: string) => writes.write({ channelId, text });
  const texts = () => begun.map((each) => each.texts);
  const turn = () => jest.advanceTimersByTimeAsync(0);
  const done = (...values: string[]): Outcome<string>[] => values.map((value) => ({ done: value }));
  const refused = () => Object.assign(new pg.DatabaseError('poison', 6, 'error'), { code: '22P02' });

  afterEach(() => void jest.useRealTimers());
  beforeEach(() => {
    jest.useFakeTimers();
    begun = [];
    writes = new GroupedWrites<Item, string>({
      alone: async ({ text }) => {
        const [outcome] = await begin(text);
        return outcome && outcome !== 'left' && 'done' in outcome ? outcome.done : '';
      },
      together: (items) => begin(`[${items.map(({ text }) => text).join()}]`),
    });
  });

  it('writes one alone at once, and together what comes meanwhile', async () => {
    const first = write('a', 'a1');
    const others = [write('b', 'b1'), write('c', 'c1')];
    expect(texts()).toEqual(['a1']);
    begun[0]?.end(done('A'));
    expect(await first).toBe('A');
    await turn();
    expect(texts()).toEqual(['a1', '[b1,c1]']);
    begun[1]?.end(done('B', 'C'));
    expect(await Promise.all(others)).toEqual(['B', 'C']);
    await turn();
    void write('d', 'd1');
    expect(texts()).toEqual(['a1', '[b1,c1]', 'd1']);
  });

  it('keeps the order of a channel, and never writes two of its own together', async () => {
    const all = [write('x', 'x1'), write('a', 'a1'), write('a', 'a2'), write('b', 'b1')];
    begun[0]?.end(done('x1'));
    await turn();
    expect(texts()).toEqual(['x1', '[a1,b1]']);
    begun[1]?.end(done('a1', 'b1'));
    await turn();
    expect(texts()).toEqual(['x1', '[a1,b1]', 'a2']);
    begun[2]?.end(done('a2'));
    expect(await Promise.all(all)).toEqual(['x1', 'a1', 'a2', 'b1']);
  });

  it('writes alone what was left, while its channel waits for it and no other does', async () => {
    const all = [write('x', 'x1'), write('a', 'a1'), write('b', 'b1'), write('a', 'a2'), write('b', 'b2')];
    begun[0]?.end(done('x1'));
    await turn();
    begun[1]?.end(['left', { done: 'b1' }]);
    await turn();
    expect(texts()).toEqual(['x1', '[a1,b1]', 'a1']);
    await jest.advanceTimersByTimeAsync(100); // the lock of the channel is held for long
    expect(texts()).toEqual(['x1', '[a1,b1]', 'a1', 'b2']);
    begun[3]?.end(done('b2'));
    begun[2]?.end(done('a1'));
    await turn();
    begun[4]?.end(done('a2'));
    expect(texts()).toEqual(['x1', '[a1,b1]', 'a1', 'b2', 'a2']);
    expect(await Promise.all(all)).toEqual(['x1', 'a1', 'b1', 'a2', 'b2']);
  });

  it('lets a refused write of one cost the others nothing: each is written alone', async () => {
    const all = [write('x', 'x1'), write('a', 'a1'), write('b', 'b1')].map((each) => each.catch(String));
    begun[0]?.end(done('x1'));
    await turn();
    begun[1]?.end(refused());
    await turn();
    expect(texts()).toEqual(['x1', '[a1,b1]', 'a1', 'b1']);
    begun[2]?.end(refused());
    begun[3]?.end(done('b1'));
    expect(await Promise.all(all)).toEqual(['x1', 'error: poison', 'b1']);
  });

  it('writes nothing again that may have been written', async () => {
    const all = [write('x', 'x1'), write('a', 'a1'), write('b', 'b1')].map((each) => each.catch(String));
    begun[0]?.end(done('x1'));
    await turn();
    begun[1]?.end(new Error('the connection is gone'));
    expect(await Promise.all(all)).toEqual(['x1', 'Error: the connection is gone', 'Error: the connection is gone']);
    expect(texts()).toEqual(['x1', '[a1,b1]']);
    void write('a', 'a2');
    expect(texts()).toEqual(['x1', '[a1,b1]', 'a2']);
  });

  it('rejects each of a group with its own failure', async () => {
    const all = [write('x', 'x1'), write('a', 'a1'), write('b', 'b1')].map((each) => each.catch(String));
    begun[0]?.end(done('x1'));
    await turn();
    begun[1]?.end([{ failed: new Error('fenced') }, { done: 'b1' }]);
    expect(await Promise.all(all)).toEqual(['x1', 'Error: fenced', 'b1']);
  });

  it('goes on beside a write that hangs, and takes no more than 64 together', async () => {
    void write('x', 'x1');
    const many = Array.from({ length: 70 }, (_, n) => write(`c${n}`, `${n}`));
    await jest.advanceTimersByTimeAsync(100);
    expect(begun).toHaveLength(2);
    begun[1]?.end(Array.from({ length: 64 }, (_, n) => ({ done: `${n}` })));
    await turn();
    expect(texts()[2]).toBe('[64,65,66,67,68,69]');
    begun[2]?.end(done('64', '65', '66', '67', '68', '69'));
    expect(await Promise.all(many)).toEqual(Array.from({ length: 70 }, (_, n) => `${n}`));
    begun[0]?.end(done('x1'));
  });
});
