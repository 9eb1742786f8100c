import { Pace } from './pace.js';

describe('Pace', () => {
  it('spaces calls evenly, and saves up nothing while there are none', async () => {
    let nowMs = 0;
    const starts: number[] = [];
    const pause = (ms: number): Promise<void> => {
      nowMs += ms;
      return Promise.resolve();
    };
    const pace = new Pace(10, () => nowMs, pause);
    const call = async (): Promise<void> => {
      await pace.next();
      starts.push(nowMs);
    };
    for (let calls = 0; calls < 3; calls += 1) await call();
    nowMs = 5_000;
    for (let calls = 0; calls < 3; calls += 1) await call();
    expect(starts).toEqual([0, 100, 200, 5_000, 5_100, 5_200]);
  });
});
