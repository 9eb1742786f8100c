export {
  BACKGROUND_JOB_OPTIONS,
  JOB_QUEUES,
  RepeatedJob,
  type Job,
  type Queue,
  type RepeatedJobTerms,
} from './background-jobs.js';
export { CommandClient, type CallOptions, type CommandClientSettings, type CommandTarget } from './command-client.js';
export type { CommandReply } from './command-job.js';
export {
  openCommandWorker,
  type CommandWorker,
  type CommandWorkerSettings,
  type ReceivedCommand,
} from './command-worker.js';
export { commandQueueName } from './names.js';
export { readQueueFigures, type QueueFigures } from './queue-figures.js';
export { publishEventsReady, publishEventsToPull, subscribeAllEvents, subscribeEventsReady } from './signals.js';
