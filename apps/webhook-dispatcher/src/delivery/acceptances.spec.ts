import { Acceptances } from './acceptances.js';

const LIMITS = { mostEvents: 4, withinMs: 5, quickMs: 5 };
const QUICK_MS = 1;

/** Lets everything go on that can. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('what a receiver has accepted', () => {
  /** Ends of the writes that began, each as the spec wants it. */
  let writes: { resolve: (holds: boolean) => void; reject: (error: Error) => void }[];
  let acceptances: Acceptances;
  const add = (tookMs = QUICK_MS): Promise<boolean> => {
    acceptances.note(tookMs);
    return acceptances.settle();
  };
  const stateOf = async (promise: Promise<boolean>): Promise<boolean | 'waits'> => {
    await settle();
    return Promise.race([promise, Promise.resolve('waits' as const)]);
  };

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    writes = [];
    const write = (): Promise<boolean> =>
      new Promise<boolean>((resolve, reject) => void writes.push({ resolve, reject }));
    acceptances = new Acceptances(write, LIMITS);
  });
  afterEach(() => jest.useRealTimers());

  it('is recorded while a quick receiver is sent the next events, one write at a time, each with all until then', async () => {
    await add();
    expect(writes).toHaveLength(0);
    await add(); // half of the bound
    expect(await stateOf(add())).toBe(true);
    expect(writes).toHaveLength(1);
    writes[0]?.resolve(true);
    await settle();
    expect(writes).toHaveLength(1);
    await add();
    expect(writes).toHaveLength(2);
  });

  it.each([
    ['alone', 1, 0],
    ['while another write is under way', 3, 1],
  ])('is recorded within its time when nothing follows it, %s', async (_when, events, before) => {
    for (let count = 0; count < events; count += 1) await add();
    jest.advanceTimersByTime(LIMITS.withinMs - 1);
    expect(writes).toHaveLength(before);
    jest.advanceTimersByTime(1);
    writes[before - 1]?.resolve(true);
    await settle();
    expect(writes).toHaveLength(before + 1);
  });

  it('and is not recorded is never more than the bound: then nothing is posted until a write is done', async () => {
    for (let count = 0; count < LIMITS.mostEvents - 1; count += 1) await add();
    const last = add();
    expect(await stateOf(last)).toBe('waits');
    writes[0]?.resolve(true);
    expect(await stateOf(last)).toBe(true);
  });

  it('with an answer that took long is recorded before the next is posted, and so is all before it', async () => {
    await add();
    await add();
    const slow = add(LIMITS.quickMs + 1);
    writes[0]?.resolve(true);
    expect(await stateOf(slow)).toBe('waits');
    writes[1]?.resolve(true);
    expect(await stateOf(slow)).toBe(true);
  });

  it('is the next holder’s when the lease is lost: nothing is posted or written any more', async () => {
    await add();
    await add();
    writes[0]?.resolve(false);
    await settle();
    expect(await add(LIMITS.quickMs + 1)).toBe(false);
    expect(writes).toHaveLength(1);
  });

  it('ends the delivery when it cannot be recorded', async () => {
    await add();
    await add();
    writes[0]?.reject(new Error('away'));
    await settle();
    await expect(add()).rejects.toThrow('away');
    expect(writes).toHaveLength(1);
  });

  it('is left to the write that gives the cursor back, at the end', async () => {
    for (let count = 0; count < 3; count += 1) await add();
    const ended = acceptances.end();
    writes[0]?.resolve(true);
    await ended;
    jest.advanceTimersByTime(LIMITS.withinMs);
    await settle();
    expect(writes).toHaveLength(1);
  });

  it('is not counted as long as it may be the last one, and then counts as what its answer took', async () => {
    acceptances.note(LIMITS.quickMs + 1);
    acceptances.note(); // some that are not posted
    jest.advanceTimersByTime(LIMITS.withinMs);
    expect(writes).toHaveLength(0);
    const settled = acceptances.settle();
    expect(await stateOf(settled)).toBe('waits');
    writes[0]?.resolve(true);
    expect(await stateOf(settled)).toBe(true);
    expect(await stateOf(acceptances.settle())).toBe(true);
    expect(writes).toHaveLength(1);
  });

  it('is recorded at once on demand, after a write that is under way, and nothing of it again', async () => {
    await add();
    await add();
    acceptances.note(LIMITS.quickMs + 1);
    const recorded = acceptances.record();
    expect(writes).toHaveLength(1);
    writes[0]?.resolve(true);
    expect(await stateOf(recorded)).toBe('waits');
    expect(writes).toHaveLength(2);
    writes[1]?.resolve(true);
    expect(await stateOf(recorded)).toBe(true);
    expect(await stateOf(acceptances.settle())).toBe(true);
    jest.advanceTimersByTime(LIMITS.withinMs);
    expect(writes).toHaveLength(2);
  });
});
