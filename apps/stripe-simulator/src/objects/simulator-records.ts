// Records of the simulator itself: nothing of them is on the wire of the API.
import type { CollectionRules } from '../money/retries.js';
import type { Base } from './base-record.js';

/** One event on its way to one endpoint. Moments are milliseconds of the wall clock. */
export interface Delivery extends Base {
  object: 'delivery';
  event: string;
  endpoint: string;
  attempts: number;
  nextAtMs: number | null;
  state: 'waiting' | 'held' | 'delivered' | 'lost' | 'failed';
  lastStatus: number | null;
}

/** The answer that an idempotency key stands for. */
export interface KeptAnswer extends Base {
  object: 'kept_answer';
  request: string;
  requestId: string;
  fingerprint: string;
  status: number;
  body: string;
}

/** How webhooks are sent. */
export interface WebhookRules {
  /** `hold` keeps them until they are released; `lose` never sends them. */
  mode: 'send' | 'hold' | 'lose';
  /** Each event is sent twice. */
  isDoubled: boolean;
  /** Events wait a little and leave in random order. */
  isShuffled: boolean;
  /** Milliseconds of the wall clock before each further attempt; after the last one a delivery has failed. */
  retryAfterMs: number[];
}

/** Which requests fail, and how. */
export interface FaultRule {
  id: string;
  kind: 'fail' | 'fail_kept' | 'slow' | 'drop_answer' | 'rate_limit' | 'hold';
  /** Only requests of this method. */
  method?: string | undefined;
  /** Only requests whose path begins so, for example `/v1/subscriptions`. */
  path?: string | undefined;
  /** One request in so many, drawn at random; 1 is each. */
  oneIn: number;
  /** How many more requests it is for; absent: any number. */
  times?: number | undefined;
  /** How long `slow` waits. */
  delayMs: number;
  /** The status of `fail` and `fail_kept`. */
  status: number;
}

/** Settings and faults: one record, so that they survive a restart too. */
export interface SimulatorState extends Base {
  object: 'simulator';
  /** How far the whole simulator's time is ahead of the wall clock, in seconds. */
  aheadSeconds: number;
  collection: CollectionRules;
  webhooks: WebhookRules;
  faults: FaultRule[];
  isAway: boolean;
  /** Milliseconds until what is new can be found by search. */
  searchDelayMs: number;
}
