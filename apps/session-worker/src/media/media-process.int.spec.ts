import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { FileRefused } from './file-refused.js';
import { framesGif, zeroPng } from '@dormouse/stack/hostile-files';
import { mediaProcess } from './test-images.js';

describe('the media process', () => {
  let directory: string;
  let small: string;
  let slow: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dormouse-process-'));
    small = join(directory, 'small.png');
    slow = join(directory, 'slow.gif');
    const image = sharp({ create: { width: 64, height: 48, channels: 3, background: 'red' } });
    await writeFile(small, await image.png().toBuffer());
    await writeFile(slow, framesGif(300));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const run = async (work: (process: ReturnType<typeof mediaProcess>) => Promise<void>, options = {}) => {
    const process = mediaProcess(options);
    try {
      await work(process);
    } finally {
      process.close();
    }
  };
  const terms = { owner: 'CH', timeoutMs: 20_000 };
  const target = () => join(directory, 'target.webp');

  it('ends a task that takes too long, and runs the next one', async () => {
    await run(async (process) => {
      const late = process.run('sticker', { path: slow, target: target() }, { ...terms, timeoutMs: 1 });
      await expect(late).rejects.toMatchObject({ reason: expect.stringMatching(/takes too long/) as unknown });
      expect(await process.run('image', { path: small, target: target(), asIs: false }, terms)).toMatchObject({
        width: 64,
        height: 48,
        converted: false,
      });
    });
  });

  it('ends a task whose caller has left, and drops its waiting ones', async () => {
    await run(async (process) => {
      const gone = new AbortController();
      const withSignal = { ...terms, signal: gone.signal };
      const running = process.run('sticker', { path: slow, target: target() }, withSignal);
      const waiting = process.run('icon', { path: small }, withSignal);
      const reasons = Promise.allSettled([running, waiting]);
      gone.abort(new Error('the command is over'));
      for (const outcome of await reasons) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: new Error('the command is over') });
      }
      expect((await process.run('icon', { path: small }, terms)).length).toBeGreaterThan(0);
    });
  });

  /** A program that notes its process and answers requests for icons only. */
  const noting = async () => {
    const [program, noted] = [join(directory, 'noting.mjs'), join(directory, 'noted')];
    await rm(noted, { force: true });
    const note = `writeFileSync(${JSON.stringify(noted)}, String(process.pid) + ' ')`;
    const answer = `if (request.task === 'icon') process.send({ result: Buffer.alloc(1) })`;
    await writeFile(
      program,
      `import { writeFileSync } from 'node:fs';\nprocess.on('message', (request) => { ${note}; ${answer}; });\n`,
    );
    return { program, pid: () => eventually(async () => Number(await readFile(noted, 'utf8').catch(() => 0))) };
  };
  const eventually = async <T>(look: () => Promise<T> | T): Promise<T> => {
    for (;;) {
      const found = await look();
      if (found) return found;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const ended = (pid: number) =>
    eventually(() => {
      try {
        return !process.kill(pid, 0);
      } catch {
        return true;
      }
    });

  it('does not end a task whose process gets no processor time at its timeout', async () => {
    const { program, pid } = await noting();
    await run(
      async (tasks) => {
        await tasks.run('icon', { path: small }, terms);
        const own = await pid();
        process.kill(own, 'SIGSTOP');
        const stopped = tasks.run('icon', { path: small }, { ...terms, timeoutMs: 100, maxTimeoutMs: 60_000 });
        // Started later and in another process, and ended after three times as long.
        const other = tasks.run('sticker', { path: slow, target: target() }, { owner: 'OTHER', timeoutMs: 300 });
        await expect(other).rejects.toBeInstanceOf(FileRefused);
        process.kill(own, 'SIGCONT');
        expect((await stopped).length).toBe(1);
      },
      { program },
    );
  });

  describe('has no process left', () => {
    it('of a task that takes too long', async () => {
      const { program, pid } = await noting();
      await run(
        async (tasks) => {
          // It runs and has noted itself before the time of the next task begins.
          await tasks.run('icon', { path: small }, terms);
          const own = await pid();
          const late = tasks.run('sticker', { path: slow, target: target() }, { ...terms, timeoutMs: 500 });
          await expect(late).rejects.toBeInstanceOf(FileRefused);
          await ended(own);
        },
        { program },
      );
    });

    it('of a task that has begun and whose caller has left', async () => {
      const { program, pid } = await noting();
      await run(
        async (tasks) => {
          const gone = new AbortController();
          const begun = tasks.run('sticker', { path: slow, target: target() }, { ...terms, signal: gone.signal });
          const refused = expect(begun).rejects.toThrow('the command is over');
          const own = await pid();
          gone.abort(new Error('the command is over'));
          await refused;
          await ended(own);
        },
        { program },
      );
    });

    it('when it is idle for a while', async () => {
      const { program, pid } = await noting();
      await run(
        async (tasks) => {
          await tasks.run('icon', { path: small }, terms);
          await ended(await pid());
        },
        { program, idleMs: 10 },
      );
    });
  });

  it('refuses a file that needs more memory than the limit, and goes on', async () => {
    // Within the bounds of headers, beyond those of this small process.
    const image = join(directory, 'large.png');
    await writeFile(image, zeroPng({ width: 3_000, height: 3_000 }));
    await run(
      async (process) => {
        await expect(process.run('icon', { path: image }, terms)).rejects.toBeInstanceOf(FileRefused);
        expect((await process.run('icon', { path: small }, terms)).length).toBeGreaterThan(0);
      },
      { memoryLimitMib: 130 },
    );
  });

  it('fails with an error of ours when it cannot be started', async () => {
    await run(
      async (process) => {
        const failed = process.run('icon', { path: small }, terms);
        await expect(failed).rejects.toThrow(/^the media process ended/);
        await expect(failed).rejects.not.toBeInstanceOf(FileRefused);
      },
      { program: join(directory, 'nowhere.js') },
    );
  });
});
