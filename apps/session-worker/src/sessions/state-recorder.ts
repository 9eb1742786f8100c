import type { SessionStateChange } from '@dormouse/channel-directory';
import { Coalescer } from '@dormouse/database';
import { whileHeld } from '../auth-state/while-held.js';

/**
 * Stores a session's states one after the other. What is not being written yet when a newer state comes is merged into it:
 * the newest state with everything that was recorded on the way.
 */
export class StateRecorder {
  private readonly changes: Coalescer<SessionStateChange, void>;

  constructor(
    write: (change: SessionStateChange) => Promise<unknown>,
    /** Whether the shard certainly belongs to this worker. */
    held: () => boolean,
    /** A state could not be written; the next ones are. */
    onFault: (error: unknown) => void,
  ) {
    this.changes = new Coalescer({
      flush: async ([first, ...later]) => {
        if (!first) return;
        const merged = later.reduce((before, change) => ({ ...before, reason: null, ...change }), {
          reason: null,
          ...first,
        });
        await whileHeld(held, () => write(merged)).catch(onFault);
      },
    });
  }

  note(change: SessionStateChange): void {
    void this.changes.add(change);
  }

  /** Whether something is noted that has not been written yet. */
  get busy(): boolean {
    return this.changes.isBusy;
  }

  /** Resolves when everything noted so far is written, or could not be. */
  settled(): Promise<void> {
    return this.changes.settled();
  }
}
