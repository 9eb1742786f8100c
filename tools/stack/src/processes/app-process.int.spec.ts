import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppProcess } from './app-process.js';
import type { LogSink } from './log-lines.js';
import { ProcessRegister } from './process-register.js';

let dir: string;
let register: ProcessRegister;
let notices: string[];
let lines: string[];
let app: AppProcess | undefined;
/** Called whenever something was printed or noticed. */
let changed: () => void;

const logs: LogSink = {
  line: (_source, text) => {
    lines.push(text);
    changed();
  },
  notice: (message) => {
    notices.push(message);
    changed();
  },
};

function appOf(script: string, restartCrashed = true): AppProcess {
  const entry = join(dir, 'app.mjs');
  writeFileSync(entry, script);
  const ready = { line: (text: string) => text.includes('listening') };
  const starts = { label: 'spec-app', entry, env: process.env, ready, sourceMaps: false };
  app = new AppProcess({ register, logs, restartCrashed, ...starts });
  return app;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise<void>((resolve) => (changed = resolve));
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'app-process-'));
  register = await ProcessRegister.open(join(dir, 'data'));
  notices = [];
  lines = [];
  changed = () => undefined;
});

afterEach(async () => {
  await app?.stop(1_000);
  register.close();
  rmSync(dir, { recursive: true, force: true });
});

const STAYS = "console.log('listening'); setInterval(() => undefined, 1000);";

describe('an app as a child process', () => {
  it('is started when it prints that it listens', async () => {
    const started = appOf(STAYS);
    await started.start();
    expect(started.pid).toBeGreaterThan(0);
    expect(lines).toContain('listening');
    await started.stop(2_000);
    expect([started.pid, notices]).toEqual([undefined, []]);
  });

  it('fails to start with its last words', async () => {
    const failing = appOf("console.error('no database there'); process.exit(3);");
    await expect(failing.start()).rejects.toThrow(/spec-app ended while starting \(code 3\):[^]*no database there/);
    expect(notices).toEqual([]);
  });

  it('is reported and started again after a crash', async () => {
    const crashing = appOf(STAYS);
    await crashing.start();
    const first = crashing.pid ?? 0;
    process.kill(first, 'SIGKILL');
    await until(() => lines.filter((line) => line === 'listening').length === 2);
    expect(notices).toEqual(['spec-app ended by itself (SIGKILL); starting it again in 0.5 s.']);
    expect(crashing.pid).not.toBe(first);
  });

  it('stays down after a crash when restarts are off', async () => {
    const crashing = appOf(STAYS, false);
    await crashing.start();
    process.kill(crashing.pid ?? 0, 'SIGKILL');
    await until(() => notices.length === 1);
    expect(notices).toEqual(['spec-app ended by itself (SIGKILL).']);
  });

  it('does not come back after it was killed on purpose', async () => {
    const killed = appOf(STAYS);
    await killed.start();
    await killed.kill('SIGKILL');
    expect([killed.pid, notices]).toEqual([undefined, []]);
    await killed.start();
    expect(killed.pid).toBeGreaterThan(0);
  });
});
