/**
 * The timeout of a process that only gets processor time that nothing else needs (background-command.ts). On a busy machine
 * it may get none for seconds, which is not the fault of the file that it opens.
 */
import { readFileSync } from 'node:fs';

/** The bounds on the time of one piece of work. */
export interface WorkTimeout {
  /** In milliseconds, counted from the start of the work. */
  timeoutMs: number;
  /** How long the work may take, in milliseconds, while it has had less processor time than `timeoutMs`; default: no longer. */
  maxTimeoutMs?: number | undefined;
}

/** Linux counts processor time for programs in hundredths of a second (USER_HZ). */
const MS_OF_TICK = 10;

/** Fields of /proc/PID/stat that have the time in user mode and in the kernel, counted from the one behind the name (proc_pid_stat(5)). */
const [USER_FIELD, KERNEL_FIELD] = [11, 12];

/**
 * Processor time of a process and its threads in milliseconds.
 * @param pid undefined of a process that could not be started
 * @returns undefined where it cannot be known, as on other systems
 */
export function processorMsOf(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER_FIELD]) + Number(fields[KERNEL_FIELD])) * MS_OF_TICK;
  } catch {
    return undefined;
  }
}

/**
 * Calls `onTimeout` once when the time of the work that a process does is over.
 * @param processorMs the processor time of the process so far; undefined ends the work after `timeoutMs`
 * @returns ends the wait
 */
export function startTimeout(
  { timeoutMs, maxTimeoutMs = timeoutMs }: WorkTimeout,
  onTimeout: () => void,
  processorMs: () => number | undefined,
): () => void {
  const [startMs, usedBeforeMs] = [performance.now(), processorMs()];
  const look = (): void => {
    const usedMs = processorMs();
    const leftMs = usedMs === undefined || usedBeforeMs === undefined ? 0 : timeoutMs - (usedMs - usedBeforeMs);
    const waitMs = Math.min(leftMs, startMs + maxTimeoutMs - performance.now());
    // A timer may be early by a fraction of a millisecond.
    if (waitMs < 1) onTimeout();
    else timer = setTimeout(look, waitMs);
  };
  let timer = setTimeout(look, timeoutMs);
  return () => clearTimeout(timer);
}
