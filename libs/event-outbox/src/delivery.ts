export type { AttemptRecord, Claim, Failure, QueuedEvent } from './claim.js';
export type { AccountRoom } from './claim-statements.js';
export { Cursors, type CursorsOptions } from './cursors.js';
export { DeadLetters, type Redrive } from './dead-letters.js';
export { readBatch, type Batch, type PendingEvent } from './event-rows.js';
export { HeldEvents, type HeldEvent } from './held-events.js';
export { channelsWithEvents, deleteOldAttempts, deleteOldDeadLetters, deleteOldEvents } from './old-rows.js';
export { recordRedirect } from './redirects.js';
