/**
 * What the process beside a worker does once the pipe from the worker has closed without a word: it makes sure that the
 * worker is dead, and frees its shards then.
 *
 * Guarantee: nothing is freed while the worker may live. That the pipe has closed is not enough: a worker could close it by
 * mistake. With PostgreSQL away the freeing fails, and the leases end by themselves.
 */

/** Interval between two looks at whether the worker is dead. Its end takes as long as the kernel needs for its memory. */
const LOOK_EVERY_MS = 10;
/** From the proof of death to the freeing: the last thread of the process may still be closing its sockets. */
const SOCKETS_CLOSE_MS = 50;
/**
 * Pause before the shards are freed once more: a claim or a heartbeat that the worker had sent may have been executed after
 * the first time.
 */
const ONCE_MORE_AFTER_MS = 1_000;

export interface AfterDeathSteps {
  /** Whether the worker's process is dead for certain. */
  readonly isDead: () => boolean;
  /** Frees what the worker owns. @returns the shards */
  readonly free: () => Promise<number[]>;
  readonly pause: (ms: number) => Promise<unknown>;
  /** How long its death is awaited at most. */
  readonly leaseTtlMs: number;
  /** Called each time something was freed. */
  readonly onFreed: (shards: number[]) => void;
}

/**
 * Waits for the proof, then frees the shards, twice.
 * @returns whether the worker is dead
 * @throws what `free` throws
 */
export async function afterDeath({ isDead, free, pause, leaseTtlMs, onFreed }: AfterDeathSteps): Promise<boolean> {
  for (let waitedMs = 0; !isDead(); waitedMs += LOOK_EVERY_MS) {
    if (waitedMs >= leaseTtlMs) return false;
    await pause(LOOK_EVERY_MS);
  }
  await pause(SOCKETS_CLOSE_MS);
  for (const pauseMs of [ONCE_MORE_AFTER_MS, 0]) {
    const shards = await free();
    if (shards.length > 0) onFreed(shards);
    if (pauseMs > 0) await pause(pauseMs);
  }
  return true;
}
