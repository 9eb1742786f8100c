/** The queue of one shard's commands. BullMQ refuses `:` in names. */
export function commandQueueName(shard: number): string {
  return `commands.${shard}`;
}

/**
 * Options of every command job. One attempt: what is said to the network is never said again by itself.
 * Finished jobs leave at once, because they hold the customer's text.
 */
export const COMMAND_JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

/** BullMQ keeps a stream of events for each queue; nothing reads ours. */
export const QUEUE_EVENTS_KEPT = 100;
