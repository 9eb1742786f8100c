import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { residentBytes, residentBytesOfChildren, residentBytesOfTree, watchPeak } from './process-memory.js';

const HELD_BYTES = 64 * 1_024 * 1_024;
/** Holds memory that is not shared, and prints its process id. */
const HOLDER = `const held = Buffer.alloc(${HELD_BYTES}, 1); console.log(process.pid); setInterval(() => held, 1e6)`;
/** Starts a holder and holds nothing. */
const PARENT = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(HOLDER)}], { stdio: 'inherit' })`;

describe('memory of processes', () => {
  let parent: ChildProcess;
  let holderId: number;

  beforeAll(async () => {
    parent = spawn(process.execPath, ['-e', PARENT], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    const [printed] = (await once(parent.stdout ?? parent, 'data')) as [Buffer];
    holderId = Number(printed);
  });
  afterAll(() => process.kill(-(parent.pid ?? 0), 'SIGKILL'));

  it('is that of a process, of those it started, or of all, at whatever depth they are', async () => {
    const [own, holder] = [await residentBytes(parent.pid ?? 0), await residentBytes(holderId)];
    expect(own).toBeGreaterThan(0);
    expect(holder).toBeGreaterThan(HELD_BYTES);
    // Between two readings a process may take some pages more.
    const children = await residentBytesOfChildren(parent.pid ?? 0);
    expect(Math.abs(children - holder)).toBeLessThan(HELD_BYTES / 4);
    expect(await residentBytesOfTree(parent.pid ?? 0)).toBeGreaterThan(children + own / 2);
    expect(await residentBytesOfChildren(process.pid)).toBeGreaterThan(holder);
    expect(await residentBytesOfChildren(holderId)).toBe(0);
  });

  it('is nothing of a process that has ended', async () => {
    const ended = spawn(process.execPath, ['-e', '']);
    await once(ended, 'exit');
    expect([await residentBytes(ended.pid ?? 0), await residentBytesOfTree(ended.pid ?? 0)]).toEqual([0, 0]);
  });
});

describe('the peak during some work', () => {
  it('is the highest value of the time, the first included', async () => {
    const values = [3, 5, 4];
    let measured: () => void = () => undefined;
    const all = new Promise<void>((resolve) => (measured = resolve));
    const measure = (): Promise<number> => {
      const value = values.shift() ?? 1;
      if (values.length === 0) measured();
      return Promise.resolve(value);
    };
    expect(await watchPeak(measure, 1, () => all)).toEqual({ before: 3, peak: 5 });
  });

  it('ends with work that fails', async () => {
    const failed = watchPeak(
      () => Promise.resolve(1),
      1,
      () => Promise.reject(new Error('of the work')),
    );
    await expect(failed).rejects.toThrow('of the work');
  });
});
