/** Why an attempt did not count as accepted; for people to read. */
export interface Failure {
  /** The receiver's HTTP status, if it gave one. */
  status: number | undefined;
  reason: string;
}

/** A finished call as the customer's delivery log shows it: a row of `webhook_attempts`, written with what it led to. */
export interface AttemptRecord {
  seq: string;
  event_id: string;
  type: string;
  method: string;
  /** Which attempt of the event it was, from 1. */
  attempt: number;
  /** 'failed' and 'set_aside' are followed by another attempt; 'dead' and 'dropped' are not. */
  outcome: 'taken' | 'failed' | 'set_aside' | 'dead' | 'dropped';
  status: number | null;
  error: string | null;
  took_ms: number;
  /** The first kilobyte of what the receiver answered. */
  answer: string | null;
}

/** The right to post for one webhook until its lease ends, and what its holder knows. */
export interface Claim {
  readonly channelId: string;
  readonly webhookId: string;
  readonly accountId: string;
  /** Names this claim in the row; another claim of the same cursor has another name. */
  readonly lease: string;
  /** Sequence number of the last event that is accepted, not wanted, or recorded elsewhere. */
  position: bigint;
  /** Failed attempts since the receiver accepted something. */
  attempts: number;
  /** Different events that it refused since then. */
  refusals: number;
  lastFailure: Failure | undefined;
  /** It waited as a whole, and nothing was accepted since. */
  paused: boolean;
  /** Conversations in which an event waits; later events of these are not posted. */
  held: Set<string>;
  /** It may have held events: they are to be read. */
  hasHeld: boolean;
  /** Its time had come when it was claimed: the first of its held events is due, whatever the clocks show. */
  heldIsDue: boolean;
  /** On the monotonic clock: until then nobody else can hold the cursor. */
  leaseEndsAtMs: number;
  /** Dead letters are to be delivered once more, as far as it was known at the last write. */
  redriving: boolean;
  /** Finished calls that the next write puts into the delivery log. */
  unlogged: AttemptRecord[];
  /** Events of held conversations that the next write of the position records as held. */
  queued: QueuedEvent[];
  /** The receiver accepted something since the last write. */
  accepted: boolean;
}

/** An event that waits behind an earlier one of its conversation. */
export interface QueuedEvent {
  seq: bigint;
  conversation: string;
  /** The earlier one is gone meanwhile: this one can be tried. */
  isDue: boolean;
}
