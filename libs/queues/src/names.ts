/** Name of the command queue of a shard. BullMQ does not allow `:` in names. */
export function commandQueueName(shard: number): string {
  return `commands.${shard}`;
}

/**
 * Options of every command job. One attempt: what was sent to the network is never sent again automatically.
 * Finished jobs are removed at once, because they hold customers' texts.
 */
export const COMMAND_JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

/** Length of the event stream that BullMQ keeps for each queue; nothing here reads it. */
export const QUEUE_EVENTS_KEPT = 100;
