import { setTimeout as pause } from 'node:timers/promises';

const STEP_MS = 250;

/** The time that durations are measured and waited in. */
export interface Timer {
  nowMs: () => number;
  pause: (ms: number) => Promise<unknown>;
}

const WALL_TIMER: Timer = { nowMs: () => performance.now(), pause };

/**
 * Runs `work` so that small differences in what it did do not show in its duration: it ends, also when it fails, at a
 * multiple of {@link STEP_MS}.
 */
export async function evenDuration<Result>(work: () => Promise<Result>, timer = WALL_TIMER): Promise<Result> {
  const startedMs = timer.nowMs();
  try {
    return await work();
  } finally {
    await untilStep(startedMs, timer);
  }
}

/** The same for failures alone; success is not delayed. */
export async function evenFailure<Result>(work: () => Promise<Result>, timer = WALL_TIMER): Promise<Result> {
  const startedMs = timer.nowMs();
  try {
    return await work();
  } catch (error) {
    await untilStep(startedMs, timer);
    throw error;
  }
}

async function untilStep(startedMs: number, { nowMs, pause: wait }: Timer): Promise<void> {
  const spentMs = nowMs() - startedMs;
  await wait(Math.ceil(STEP_MS - (spentMs % STEP_MS)));
}
