import type { SessionStateChange } from '@dormouse/channel-directory';
import { whileHeld } from '../auth-state/while-held.js';

/**
 * Stores a session's states one after the other. A state that waits when a newer one comes is merged into it: the newest
 * state with everything that was recorded on the way.
 */
export class StateRecorder {
  private waiting: SessionStateChange | undefined;
  private writing: Promise<void> | undefined;

  constructor(
    private readonly write: (change: SessionStateChange) => Promise<unknown>,
    /** Whether the shard certainly belongs to this worker. */
    private readonly held: () => boolean,
    private readonly onFault: (error: unknown) => void,
  ) {}

  note(change: SessionStateChange): void {
    this.waiting = { ...this.waiting, reason: null, ...change };
    this.writing ??= this.writeAll().finally(() => (this.writing = undefined));
  }

  /** Whether a change waits to be written. */
  get busy(): boolean {
    return this.writing !== undefined;
  }

  /** Resolves when all changes so far are written, or could not be. */
  async settled(): Promise<void> {
    await this.writing;
  }

  private async writeAll(): Promise<void> {
    for (let change = this.waiting; change; change = this.waiting) {
      const next = change;
      this.waiting = undefined;
      try {
        await whileHeld(this.held, () => this.write(next));
      } catch (error) {
        this.onFault(error);
      }
    }
  }
}
