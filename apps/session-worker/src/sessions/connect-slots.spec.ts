import { setImmediate as turn } from 'node:timers/promises';
import { ConnectSlots } from './connect-slots.js';

describe('ConnectSlots', () => {
  it('lets as many in as there are slots, the others in order as slots are given back', async () => {
    const slots = new ConnectSlots(2);
    const entered: number[] = [];
    const enter = async (n: number): Promise<() => void> => {
      const give = await slots.take();
      entered.push(n);
      return give;
    };
    const [one, , three, four] = [enter(1), enter(2), enter(3), enter(4)];
    await turn();
    expect(entered).toEqual([1, 2]);
    const give = await one;
    give();
    give();
    await turn();
    expect(entered).toEqual([1, 2, 3]);
    (await three)();
    await four;
    expect(entered).toEqual([1, 2, 3, 4]);
  });

  it('lets those go first that a request waits for when a slot becomes free', async () => {
    const slots = new ConnectSlots(1);
    const entered: string[] = [];
    const waitedFor = new Set<string>();
    const enter = (name: string) =>
      slots
        .take(() => waitedFor.has(name))
        .then((give) => {
          entered.push(name);
          return give;
        });
    const [a, , c] = [enter('a'), enter('b'), enter('c')];
    waitedFor.add('c');
    (await a)();
    (await c)();
    await turn();
    expect(entered).toEqual(['a', 'c', 'b']);
  });

  it('lets one that is alone begin at once, and spreads those that come beside it', async () => {
    const pauses: { ms: number; end: () => void }[] = [];
    const wait = (ms: number) => new Promise<void>((end) => pauses.push({ ms, end }));
    const slots = new ConnectSlots(3, 100, wait);
    const entered: number[] = [];
    const enter = (n: number): void => void slots.take().then(() => entered.push(n));
    enter(1);
    enter(2);
    await turn();
    expect(entered).toEqual([1]);
    expect(pauses).toHaveLength(1);
    expect(pauses[0]?.ms).toBeLessThan(100);
    pauses[0]?.end();
    await turn();
    expect(entered).toEqual([1, 2]);
  });
});
