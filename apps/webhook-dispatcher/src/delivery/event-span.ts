import type { Claim, PendingEvent } from '@dormouse/event-outbox/delivery';
import { inSpan } from '@dormouse/traces';

const EVENTS = {
  'messaging.system': 'postgresql',
  'messaging.destination.name': 'events',
  'messaging.operation.name': 'process',
  'messaging.operation.type': 'process',
} as const;

/** Delivers an event as a part of the trace in which it was written. */
export function deliveringEvent<T>(
  { channelId, webhookId }: Pick<Claim, 'channelId' | 'webhookId'>,
  { id, traceparent }: Pick<PendingEvent, 'id' | 'traceparent'>,
  work: () => Promise<T>,
): Promise<T> {
  const which = { 'messaging.message.id': id, 'dormouse.channel.id': channelId, 'dormouse.webhook.id': webhookId };
  return inSpan(
    'process events',
    { kind: 'consumer', parent: traceparent ?? null, facts: { ...EVENTS, ...which } },
    work,
  );
}
