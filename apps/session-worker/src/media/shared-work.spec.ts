import { SharedWork } from './shared-work.js';

describe('SharedWork', () => {
  function counted() {
    const signals: AbortSignal[] = [];
    let finish: (value: string) => void = () => undefined;
    const work = (signal: AbortSignal) => {
      signals.push(signal);
      return new Promise<string>((resolve) => (finish = resolve));
    };
    return { signals, work, finish: (value: string) => finish(value) };
  }

  it('runs once for all callers that join while it runs, and again afterwards', async () => {
    const shared = new SharedWork<string>();
    const { signals, work, finish } = counted();
    const both = [shared.join('x', work), shared.join('x', work)];
    finish('done');
    expect(await Promise.all(both)).toEqual(['done', 'done']);
    const third = shared.join('x', work);
    finish('again');
    expect(await third).toBe('again');
    expect(signals).toHaveLength(2);
  });

  it('is aborted when its last caller has left, not before', async () => {
    const shared = new SharedWork<string>();
    const { signals, work } = counted();
    const [first, second] = [new AbortController(), new AbortController()];
    const both = [shared.join('x', work, first.signal), shared.join('x', work, second.signal)];
    first.abort(new Error('gone'));
    await expect(both[0]).rejects.toThrow('gone');
    expect(signals[0]?.aborted).toBe(false);
    second.abort(new Error('gone, too'));
    await expect(both[1]).rejects.toThrow('gone, too');
    expect(signals[0]?.aborted).toBe(true);
  });

  it('starts again for a caller that comes after all others have left', async () => {
    const shared = new SharedWork<string>();
    const { signals, work, finish } = counted();
    const gone = new AbortController();
    const left = shared.join('x', work, gone.signal);
    gone.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    const next = shared.join('x', work);
    finish('fresh');
    expect(await next).toBe('fresh');
    expect(signals).toHaveLength(2);
  });

  it('fails for all callers that wait', async () => {
    const shared = new SharedWork<string>();
    await expect(shared.join('x', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  });
});
