import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';

/** Linux counts in hundredths of a second, whatever the kernel's own tick is (`proc(5)`, `sysconf(_SC_CLK_TCK)`). */
const MS_PER_TICK = 10;

interface Process {
  parent: number;
  name: string;
  ms: number;
}

/** Processor time of each process so far, by its id. */
export type ProcessorTimes = ReadonlyMap<number, { readonly name: string; readonly ms: number }>;

/**
 * Processor time of everything this process has started and what that has started. An app is named by its folder,
 * anything else by its program. Only what is still running counts. Empty where there is no `/proc`.
 */
export async function processorTimes(): Promise<ProcessorTimes> {
  const entries = await readdir('/proc').catch(() => []);
  const processes = new Map<number, Process>();
  for (const entry of entries.filter((name) => /^\d+$/.test(name))) {
    const found = await readProcess(entry).catch(() => undefined); // it may have ended meanwhile
    if (found) processes.set(Number(entry), found);
  }
  return new Map([...processes].filter(([, { parent }]) => descends(parent, processes)));
}

/**
 * Milliseconds by name, in all pairs of one count and a later one: a server's process that ended between the two (a
 * connection that was idle for long) subtracts nothing.
 */
export function processorMsBetween(pairs: readonly (readonly [ProcessorTimes, ProcessorTimes])[]): Map<string, number> {
  const byName = new Map<string, number>();
  for (const [before, after] of pairs) {
    for (const [pid, { name, ms }] of after) {
      byName.set(name, (byName.get(name) ?? 0) + ms - (before.get(pid)?.ms ?? 0));
    }
  }
  return byName;
}

function descends(parent: number, processes: ReadonlyMap<number, Process>): boolean {
  for (let pid: number | undefined = parent; pid; pid = processes.get(pid)?.parent) {
    if (pid === process.pid) return true;
  }
  return false;
}

async function readProcess(pid: string): Promise<Process> {
  const [stat, commandLine] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/cmdline`, 'utf8'),
  ]);
  // The program's name stands in brackets and may hold blanks: count from behind them.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [parent, userTicks, systemTicks] = [fields[1], fields[11], fields[12]].map(Number);
  const app = /(?:apps|tools)\/([\w-]+)\/dist\//.exec(commandLine)?.[1];
  const program = basename(commandLine.split(/[\0 :]/, 1)[0] ?? '');
  return { parent: parent ?? 0, name: app ?? program, ms: ((userTicks ?? 0) + (systemTicks ?? 0)) * MS_PER_TICK };
}
