/**
 * Resident memory of processes, for specs and benchmarks. On Linux it is read from `/proc`, without starting anything, so
 * that frequent samples cost what is measured little; elsewhere `ps` is run.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

interface Process {
  pid: number;
  parent: number;
  rssBytes: number;
}

/** As `proc_pid_status(5)` has it; nothing of a process that has ended. */
async function readStatus(pid: number | string): Promise<Process[]> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => undefined);
  if (status === undefined) return [];
  const valueOf = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return [{ pid: valueOf('Pid'), parent: valueOf('PPid'), rssBytes: valueOf('VmRSS') * 1_024 }];
}

/** @param which options of `ps` that choose the processes */
async function listByPs(...which: string[]): Promise<Process[]> {
  const columns = ['-o', 'pid=', '-o', 'ppid=', '-o', 'rss='];
  // Status 1 and no line: there is none.
  const { stdout } = await promisify(execFile)('ps', [...which, ...columns]).catch(() => ({ stdout: '' }));
  const rows = stdout.split('\n').filter((line) => line.trim() !== '');
  return rows.map((row) => {
    const [pid = 0, parent = 0, kib = 0] = row.trim().split(/\s+/).map(Number);
    return { pid, parent, rssBytes: kib * 1_024 };
  });
}

/** Resident bytes of one process; 0 once it has ended. */
export async function residentBytes(pid: number): Promise<number> {
  const [found] = platform() === 'linux' ? await readStatus(pid) : await listByPs('-p', String(pid));
  return found?.rssBytes ?? 0;
}

async function allProcesses(): Promise<Process[]> {
  if (platform() !== 'linux') return listByPs('-A');
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return (await Promise.all(pids.map(readStatus))).flat();
}

/**
 * What a process has started from its main thread, as Node starts everything, and what that has started (`proc(5)`:
 * `/proc/<pid>/task/<tid>/children`): to read of all processes costs a hundred times more. Undefined where the kernel lists
 * no children.
 */
async function descendants(root: number | string): Promise<Process[] | undefined> {
  if (platform() !== 'linux') return undefined;
  const listed = await readFile(`/proc/${root}/task/${root}/children`, 'utf8').catch(() => undefined);
  if (listed === undefined) return (await readStatus(root)).length === 0 ? [] : undefined;
  const children = listed.split(' ').filter((pid) => pid !== '');
  const found = await Promise.all(children.flatMap((pid) => [readStatus(pid), descendants(pid)]));
  return found.flatMap((processes) => processes ?? []);
}

/** Resident bytes of all that a process has started, directly and through others; without its own. */
export async function residentBytesOfChildren(root: number): Promise<number> {
  const listed = await descendants(root);
  if (listed) return listed.reduce((sum, { rssBytes }) => sum + rssBytes, 0);
  const processes = await allProcesses();
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]));
  const descends = (pid: number): boolean => {
    for (let at = parents.get(pid); at; at = parents.get(at)) if (at === root) return true;
    return false;
  };
  return processes.reduce((sum, { pid, rssBytes }) => sum + (descends(pid) ? rssBytes : 0), 0);
}

/** Resident bytes of a process and of all that it has started. */
export async function residentBytesOfTree(root: number): Promise<number> {
  const [own, children] = await Promise.all([residentBytes(root), residentBytesOfChildren(root)]);
  return own + children;
}

/** Measures before some work and every `everyMs` until it ends. @returns the first and the highest value */
export async function watchPeak(
  measure: () => Promise<number>,
  everyMs: number,
  work: () => Promise<unknown>,
): Promise<{ before: number; peak: number }> {
  const before = await measure();
  let peak = before;
  const ended = new AbortController();
  const watching = (async () => {
    while (!ended.signal.aborted) {
      peak = Math.max(peak, await measure());
      await delay(everyMs, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  })();
  try {
    await work();
  } finally {
    ended.abort();
    await watching;
  }
  return { before, peak };
}
