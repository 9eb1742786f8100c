import { redisKeys } from '@dormouse/redis';

/** The two lists of one shard's commands; see `command-worker.ts`. */
export interface CommandLists {
  /** Called and not taken yet, the oldest first. */
  readonly waiting: string;
  /** Taken by the shard's worker and not finished. */
  readonly taken: string;
}

export function commandLists(shard: number): CommandLists {
  return { waiting: redisKeys.commandsWaiting(shard), taken: redisKeys.commandsTaken(shard) };
}
