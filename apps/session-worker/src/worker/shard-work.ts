import type { LogOf } from '@dormouse/bootstrap';
import { openCommandWorker } from '@dormouse/queues';
import type { CommandRunner } from '../commands/command-runner.js';
import { errorOutline } from '../error-outline.js';
import type { Sessions } from '../sessions/sessions.js';
import type { HeldShard, ShardWork } from '../shards/shard-owner.js';

export interface ShardWorkOptions {
  readonly sessions: Sessions;
  readonly runner: CommandRunner;
  readonly redisUrl: string;
  /** How many commands run at once. */
  readonly concurrency: number;
  readonly log: LogOf<'error'>;
}

/** Starts the work for an owned shard: holds its sessions and runs its commands. */
export function startShardWork(held: HeldShard, options: ShardWorkOptions): ShardWork {
  const { sessions, runner, redisUrl, concurrency, log } = options;
  const { shard } = held.fence;
  const logError = (text: string) => (error: unknown) => log.error({ shard, failure: errorOutline(error) }, text);
  sessions.takeOver(held).catch(logError('the sessions of a shard could not be started'));
  const commands = openCommandWorker({
    redisUrl,
    shard,
    concurrency,
    handle: runner.run,
    onError: logError('command queue'),
  });
  const stopCommands = (): Promise<void> => commands.close().catch(logError('command queue could not be closed'));
  return {
    finish: async () => {
      await stopCommands(); // running commands finish; they need their sockets until then
      await sessions.handOff(held);
    },
    abandon: () => {
      sessions.abandon(held);
      void stopCommands();
    },
  };
}
