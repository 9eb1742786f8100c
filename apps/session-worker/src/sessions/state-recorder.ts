import type { SessionStateChange } from '@dormouse/channel-directory';
import { whileHeld } from '../auth-state/while-held.js';

/**
 * Writes a session's states down one after the other. What has not been written yet when a newer state comes is merged
 * into it: the newest state with everything that was recorded on the way.
 */
export class StateRecorder {
  private waiting: SessionStateChange | undefined;
  private writing: Promise<void> | undefined;

  constructor(
    private readonly write: (change: SessionStateChange) => Promise<unknown>,
    /** Does the shard surely belong to this worker? */
    private readonly held: () => boolean,
    private readonly onFault: (error: unknown) => void,
  ) {}

  note(change: SessionStateChange): void {
    this.waiting = { ...this.waiting, reason: null, ...change };
    this.writing ??= this.writeAll().finally(() => (this.writing = undefined));
  }

  /** Is something noted that has not been written yet? */
  get busy(): boolean {
    return this.writing !== undefined;
  }

  /** Resolves when everything noted so far is written, or could not be. */
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
