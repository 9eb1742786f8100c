import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ProcessRegister, processStartedAt, stopChild } from './process-register.js';

const BUILT = fileURLToPath(new URL('../../dist/processes/process-register.js', import.meta.url));
let dir: string;
const launchers: ChildProcess[] = [];

/** A process that claims the folder and starts two children. */
async function launcher(): Promise<{ child: ChildProcess; children: number[] }> {
  const script = join(dir, 'launcher.mjs');
  writeFileSync(
    script,
    `import { ProcessRegister } from ${JSON.stringify(BUILT)};
     const register = await ProcessRegister.open(${JSON.stringify(join(dir, 'data'))});
     const one = register.spawn('one', 'sleep', ['600'], { stdio: 'ignore' });
     const two = register.spawn('two', 'sleep', ['601'], { stdio: 'ignore' });
     console.log(JSON.stringify([one.pid, two.pid]));`,
  );
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  launchers.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, children: JSON.parse(line) as number[] };
}

async function gone(pids: number[]): Promise<void> {
  while (pids.some((pid) => processStartedAt(pid) !== undefined)) await new Promise((wake) => setTimeout(wake, 20));
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'process-register-'));
});

afterEach(() => {
  for (const child of launchers.splice(0)) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

describe('the process register', () => {
  it('leaves nothing running when its launcher is killed', async () => {
    const { child, children } = await launcher();
    expect(children.every((pid) => processStartedAt(pid) !== undefined)).toBe(true);
    child.kill('SIGKILL');
    await gone(children);
  }, 20_000);

  it('lets one launcher have a folder, and the next one after it is gone', async () => {
    const { child, children } = await launcher();
    await expect(ProcessRegister.open(join(dir, 'data'))).rejects.toThrow(/already runs .*--data/);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const register = await ProcessRegister.open(join(dir, 'data'));
    expect(children.map((pid) => processStartedAt(pid))).toEqual([undefined, undefined]);
    register.close();
  }, 20_000);

  it('does not take a process that got the same id for one of its own', async () => {
    const other = spawn('sleep', ['602'], { stdio: 'ignore' });
    launchers.push(other);
    const entry = { name: 'x', pid: other.pid, startedAt: '1', stopSignal: 'SIGTERM', isStore: false };
    const data = mkdtempSync(join(dir, 'data-'));
    writeFileSync(join(data, 'processes.json'), JSON.stringify([entry]));
    (await ProcessRegister.open(data)).close();
    expect(processStartedAt(other.pid ?? 0)).toBeDefined();
  });

  it('kills a child that does not end on a signal', async () => {
    const register = await ProcessRegister.open(join(dir, 'data'));
    const ignoring = "process.on('SIGTERM', () => undefined); console.log('up'); setInterval(() => undefined, 1000);";
    const child = register.spawn('ignoring', process.execPath, ['-e', ignoring], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    if (child.stdout) await once(child.stdout, 'data');
    await stopChild(child, 'SIGTERM', 50);
    expect(child.signalCode).toBe('SIGKILL');
    register.close();
  });

  it('names the command that cannot be started', async () => {
    const register = await ProcessRegister.open(join(dir, 'data'));
    expect(() => register.spawn('thing', '/no/such/program', [], {})).toThrow(/thing cannot be started/);
    register.close();
  });
});
