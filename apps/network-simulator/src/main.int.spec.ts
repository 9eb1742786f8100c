import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

jest.setTimeout(60_000);

/** The program as it is built: it is a process of its own. */
const MAIN = join(import.meta.dirname, '..', 'dist', 'main.js');

describe('the simulator as a process', () => {
  let dataDir: string;
  const running: ChildProcess[] = [];

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'simulator-main-'));
  });
  afterEach(async () => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
    await rm(dataDir, { recursive: true, force: true });
  });

  const start = (env: Record<string, string>, stdio: StdioOptions = ['pipe', 'pipe', 'pipe']): ChildProcess => {
    const { NODE_COMPILE_CACHE } = process.env;
    const given = { NODE_COMPILE_CACHE, PORT: '0', DATA_DIR: dataDir, ...env };
    const child = spawn(process.execPath, [MAIN], { env: given, stdio });
    running.push(child);
    return child;
  };
  /** The line on standard output, parsed. */
  const listening = async (
    stdout: Readable | null,
  ): Promise<{ control: string; socketUrl: string; rootKey: string }> => {
    if (!stdout) throw new Error('The process has no standard output.');
    const [line] = (await once(createInterface({ input: stdout }), 'line')) as [string];
    return (JSON.parse(line) as { listening: { control: string; socketUrl: string; rootKey: string } }).listening;
  };
  const makePhone = async (control: string, name: string): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const made = await fetch(`${control}/phones`, { method: 'POST', headers, body: JSON.stringify({ name }) });
    expect(made.status).toBe(201);
  };
  const phoneNames = async (control: string): Promise<string[]> =>
    ((await (await fetch(`${control}/phones`)).json()) as { name: string }[]).map(({ name }) => name);

  it('prints on one line of standard output where it listens, and everything else on standard error', async () => {
    const child = start({});
    const address = await listening(child.stdout);
    expect(await phoneNames(address.control)).toEqual([]);
    expect(address.socketUrl).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/ws\/chat$/);
    expect(Buffer.from(address.rootKey, 'base64').length).toBe(32);
  });

  it('ends at SIGTERM with everything on disk, and goes on from there', async () => {
    const child = start({});
    const { control, rootKey } = await listening(child.stdout);
    await makePhone(control, 'Kept over a signal');
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
    const again = await listening(start({}).stdout);
    expect(again.rootKey).toBe(rootKey);
    expect(await phoneNames(again.control)).toEqual(['Kept over a signal']);
  });

  it('with END_WITH_INPUT ends when its standard input does, with everything on disk', async () => {
    const child = start({ END_WITH_INPUT: 'true' });
    const { control } = await listening(child.stdout);
    await makePhone(control, 'Kept over the end');
    const exit = once(child, 'exit');
    child.stdin?.end();
    expect(await exit).toEqual([0, null]);
    const again = await listening(start({}).stdout);
    expect(await phoneNames(again.control)).toEqual(['Kept over the end']);
  });

  it('with END_WITH_INPUT does not outlive who started it, however that one ended', async () => {
    // The starter passes its output on: it closes once neither of the two is there any more.
    const starter = spawn(
      process.execPath,
      [
        '-e',
        `require('node:child_process').spawn(process.execPath, [${JSON.stringify(MAIN)}], { stdio: ['pipe', 1, 2] })`,
      ],
      { env: { PORT: '0', END_WITH_INPUT: 'true' }, stdio: ['ignore', 'pipe', 'ignore'] },
    );
    running.push(starter);
    const { control } = await listening(starter.stdout);
    const closed = once(starter, 'close');
    starter.kill('SIGKILL');
    await closed;
    await expect(fetch(`${control}/health`)).rejects.toThrow('fetch failed');
  });

  it('without END_WITH_INPUT runs on when its standard input ends', async () => {
    const child = start({});
    const { control } = await listening(child.stdout);
    if (!child.stdin) throw new Error('The process has no standard input.');
    const gone = once(child.stdin, 'close');
    child.stdin.end();
    await gone;
    // More than one turn of its event loop later it is still there.
    for (const name of ['One', 'Two', 'Three']) await makePhone(control, name);
    expect(await phoneNames(control)).toEqual(['One', 'Two', 'Three']);
    expect(child.exitCode).toBeNull();
  });

  it('without a terminal or a pipe on its standard input starts as well', async () => {
    const child = start({}, ['ignore', 'pipe', 'pipe']);
    const { control } = await listening(child.stdout);
    expect(await phoneNames(control)).toEqual([]);
  });

  it('does not start with a setting that cannot be, and names it', async () => {
    const child = start({ END_WITH_INPUT: 'perhaps' });
    if (!child.stderr) throw new Error('The process has no standard error.');
    const [words, [code]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number]>]);
    expect(code).not.toBe(0);
    expect(words).toContain('END_WITH_INPUT');
  });
});
