import type { Fence } from '@dormouse/database';

/** The ownership of a shard, under which the state of its channels is read and written. */
export interface Ownership {
  readonly fence: Fence;
  /** False from the moment at which another worker may own the shard. */
  isHeld(): boolean;
}
