import type { WebhookEventMethod, WebhookEventType } from '@dormouse/gateway-contract';

/** One event as it lies in the outbox. */
export interface PendingEvent {
  seq: bigint;
  /** Stays the same however often the event is posted. */
  id: string;
  type: WebhookEventType;
  method: WebhookEventMethod;
  payload: Record<string, unknown>;
  /** Id of the chat it belongs to; '' for events that belong to none. */
  conversation: string;
  /** Age when it was read, by the database's clock. */
  ageMs: number;
  /** How long this webhook could have had it: its age, or the time since the webhook's beginning or last replay. */
  waitedMs: number;
}
