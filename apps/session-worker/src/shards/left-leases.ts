/**
 * Leases of shards that this worker does nothing for any more, and that may stand all the same: PostgreSQL executed a renewal late,
 * an answer was lost, a release failed. Such a lease keeps everybody off the shard, this worker included.
 *
 * Each is released until that has succeeded once. A release names the epoch: a newer claim of the same shard is not touched, and
 * a renewal that PostgreSQL executes after it changes nothing.
 */
import type { Fence } from '@dormouse/database';

export interface LeftLeasesOptions {
  readonly release: (fence: Fence) => Promise<void>;
  /** Milliseconds of a clock that never jumps. */
  readonly now: () => number;
}

export class LeftLeases {
  /** With the time from which each may be released. */
  private readonly left = new Map<Fence, number>();

  constructor(private readonly options: LeftLeasesOptions) {}

  /** @param closingMs how long what was abandoned may still need to close its sockets: nobody gets the shard before */
  add(fence: Fence, closingMs: number): void {
    this.left.set(fence, this.options.now() + closingMs);
  }

  /** Releases those whose time has come. @throws when PostgreSQL is away; what is left is for the next call */
  async releaseDue(): Promise<void> {
    const due = [...this.left].filter(([, fromMs]) => fromMs <= this.options.now());
    for (const [fence] of due) {
      await this.options.release(fence);
      this.left.delete(fence);
    }
  }
}
