import { Coalescer, type CoalescerTerms } from './coalescer.js';

describe('Coalescer', () => {
  /** Flushes that end when the spec ends them. */
  let begun: { items: string; end: (outcome: string | Error) => void }[];
  const items = () => begun.map((each) => each.items);
  const turn = () => jest.advanceTimersByTimeAsync(0);

  afterEach(() => void jest.useRealTimers());
  beforeEach(() => {
    jest.useFakeTimers();
    begun = [];
  });

  const open = (terms: Partial<CoalescerTerms<string, string>> = {}) =>
    new Coalescer<string, string>({
      flush: (given) =>
        new Promise((resolve, reject) => {
          const end = (outcome: string | Error) => (outcome instanceof Error ? reject(outcome) : resolve(outcome));
          begun.push({ items: given.join(), end });
        }),
      ...terms,
    });

  it('flushes at once, and together and in order what is added while a flush is under way', async () => {
    const coalescer = open();
    const first = coalescer.add('a');
    const others = [coalescer.add('b'), coalescer.add('c')];
    expect(items()).toEqual(['a']);
    begun[0]?.end('1');
    expect(await first).toEqual({ result: '1', index: 0 });
    await turn();
    expect(items()).toEqual(['a', 'b,c']);
    begun[1]?.end('2');
    expect(await Promise.all(others)).toEqual([
      { result: '2', index: 0 },
      { result: '2', index: 1 },
    ]);
    await turn();
    void coalescer.add('d');
    expect(items()).toEqual(['a', 'b,c', 'd']);
  });

  it('fails all that were flushed together, and goes on with the next', async () => {
    const coalescer = open();
    const all = ['a', 'b', 'c'].map((item) => coalescer.add(item).catch(String));
    begun[0]?.end('1');
    await turn();
    begun[1]?.end(new Error('refused'));
    expect((await Promise.all(all)).slice(1)).toEqual(['Error: refused', 'Error: refused']);
    void coalescer.add('d');
    expect(items()).toEqual(['a', 'b,c', 'd']);
  });

  it('flushes one by one what failed together, where that may be the fault of one', async () => {
    const coalescer = open({ separates: (error) => error instanceof RangeError });
    const all = ['a', 'b', 'c'].map((item) => coalescer.add(item).catch(String));
    begun[0]?.end('1');
    await turn();
    begun[1]?.end(new RangeError('one is too long'));
    await turn();
    begun[2]?.end(new RangeError('too long'));
    await turn();
    begun[3]?.end('2');
    expect(await Promise.all(all)).toEqual([
      { result: '1', index: 0 },
      'RangeError: too long',
      { result: '2', index: 0 },
    ]);
    expect(items()).toEqual(['a', 'b,c', 'b', 'c']);
  });

  it('flushes no more together than may go together', async () => {
    const coalescer = open({ together: () => 2 });
    ['a', 'b', 'c', 'd'].forEach((item) => void coalescer.add(item));
    begun[0]?.end('1');
    await turn();
    begun[1]?.end('2');
    await turn();
    expect(items()).toEqual(['a', 'b,c', 'd']);
  });

  it('waits for more as long as everything that was added allows', async () => {
    const coalescer = open({ delayMs: (item) => (item === 'patient' ? 20 : 0) });
    void coalescer.add('patient');
    void coalescer.add('patient');
    await jest.advanceTimersByTimeAsync(19);
    expect(items()).toEqual([]);
    void coalescer.add('a');
    expect(items()).toEqual(['patient,patient,a']);
    begun[0]?.end('1');
    await turn();
    void coalescer.add('patient');
    await jest.advanceTimersByTimeAsync(20);
    expect(items()).toEqual(['patient,patient,a', 'patient']);
  });

  it('lets what one piece of code adds go together, where that is wanted', async () => {
    const coalescer = open({ afterThisTurn: true });
    void coalescer.add('a');
    void coalescer.add('b');
    expect(items()).toEqual([]);
    await turn();
    expect(items()).toEqual(['a,b']);
  });

  it('settles when everything added so far is flushed, without waiting for a delay, whatever fails', async () => {
    const idle = jest.fn();
    const coalescer = open({ delayMs: () => 1_000, onIdle: idle });
    await coalescer.settled();
    const failed = coalescer.add('a').catch(String);
    const settled = coalescer.settled();
    expect([items(), coalescer.isBusy]).toEqual([['a'], true]);
    begun[0]?.end(new Error('refused'));
    await settled;
    expect([await failed, coalescer.isBusy, idle.mock.calls.length]).toEqual(['Error: refused', false, 1]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect([items(), idle.mock.calls.length]).toEqual([['a'], 1]);
  });
});
