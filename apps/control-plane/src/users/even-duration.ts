import { setTimeout as pause } from 'node:timers/promises';

const STEP_MS = 250;

/**
 * Runs `work` so that its duration tells nothing about small differences in what it did: it ends, also when it fails, at a
 * multiple of {@link STEP_MS}.
 */
export async function evenDuration<Result>(work: () => Promise<Result>): Promise<Result> {
  const startedMs = performance.now();
  try {
    return await work();
  } finally {
    await untilStep(startedMs);
  }
}

/** The same for failures alone; success is not delayed. */
export async function evenFailure<Result>(work: () => Promise<Result>): Promise<Result> {
  const startedMs = performance.now();
  try {
    return await work();
  } catch (error) {
    await untilStep(startedMs);
    throw error;
  }
}

function untilStep(startedMs: number): Promise<void> {
  const spentMs = performance.now() - startedMs;
  return pause(Math.ceil(STEP_MS - (spentMs % STEP_MS)));
}
