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
  /** Commands in hand at once. */
  readonly concurrency: number;
  readonly log: LogOf<'error'>;
}

/** What a worker does for a shard it owns: holds its sessions and takes its commands. */
export function startShardWork(held: HeldShard, options: ShardWorkOptions): ShardWork {
  const { sessions, runner, redisUrl, concurrency, log } = options;
  const { shard } = held.fence;
  const tell = (text: string) => (error: unknown) => log.error({ shard, failure: errorOutline(error) }, text);
  sessions.takeOver(held).catch(tell('the sessions of a shard could not be taken up'));
  const commands = openCommandWorker({
    redisUrl,
    shard,
    concurrency,
    handle: runner.run,
    onError: tell('command queue'),
  });
  const stopCommands = (): Promise<void> => commands.close().catch(tell('command queue could not be closed'));
  return {
    finish: async () => {
      await stopCommands(); // those that run come to their end; their sockets are needed until then
      await sessions.handOff(held);
    },
    abandon: () => {
      sessions.abandon(held);
      void stopCommands();
    },
  };
}
