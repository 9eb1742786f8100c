import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack, type FirstRegion, type Region, type Stack, type StackOptions } from '@dormouse/stack';

/** No benchmark is held up by limits that protect the network from customers. */
export const NO_RATE_LIMITS = { RATE_SENDS: 'off', RATE_HEALTH: 'off', RATE_OTHER: 'off' };

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Prints progress on standard error; standard output holds the figures alone. */
export function progress(text: string): void {
  console.error(`${new Date().toISOString().slice(11, 19)}  ${text}`);
}

/**
 * Runs a benchmark on a stack of its own, which ends with it: also when it fails, and on a signal; a second one does
 * not wait.
 * @param work receives the stack and the folder of its data
 * @param start another release's launcher
 */
export async function onStack<Code extends Region = FirstRegion>(
  options: Omit<StackOptions<Code>, 'dataDir' | 'network' | 'logs'>,
  work: (stack: Stack<Code>, dataDir: string) => Promise<void>,
  start = startStack,
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'dormouse-bench-'));
  progress('starting the stack');
  const stack = await start<Code>({ ...options, dataDir, network: 'simulator', logs: 'silent' });
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ending ??= stack.stop().then(() => rm(dataDir, { recursive: true, force: true }));
    return ending;
  };
  const stop = (signal: NodeJS.Signals): void => {
    const exitCode = 128 + constants.signals[signal];
    if (ending) process.exit(exitCode);
    progress('ending what was started');
    void end().finally(() => process.exit(exitCode));
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  try {
    await work(stack, dataDir);
  } catch (error) {
    if (!ending) throw error; // an error because everything ends needs no report
  } finally {
    await end();
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}
