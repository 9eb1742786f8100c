export {
  insertEvents,
  lockedSequence,
  lockEventLog,
  takeNumbers,
  type EventLog,
  type NewEvent,
} from './append-events.js';
export { endWebhooks, setWebhooks } from './channel-webhooks.js';
export {
  attemptRows,
  deadLetterRows,
  eventsAfter,
  newestEvent,
  redrive,
  replay,
  webhookState,
  type AttemptRow,
  type DeadLetterRow,
  type PulledEvent,
  type WebhookPlace,
  type WebhookStateRow,
} from './managed-webhooks.js';
export { eventFigures, failingWebhooks, stuckDeadLetters, webhooksFailingLong } from './outbox-figures.js';
