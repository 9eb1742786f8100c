import type { EventPayload, EventPayloads } from './event-payloads.js';
import {
  DEPRECATED_EVENT_TYPES,
  WEBHOOK_EVENT_METHODS,
  type WebhookEntry,
  type WebhookEventMethod,
  type WebhookEventType,
} from './settings.js';

/** An event to deliver to the customer's webhooks. */
export interface ChannelEvent {
  type: WebhookEventType;
  method: WebhookEventMethod;
  payload: EventPayload;
  /** Id of the chat it belongs to, where the payload does not name it (see `conversationOf`). */
  conversation?: string;
}

/** Body of a webhook call. `event.event` repeats the method: clients of the compatible gateway read either name. */
export type WebhookBody = Record<string, unknown> & {
  event: { type: WebhookEventType; event: WebhookEventMethod; method: WebhookEventMethod };
  channel_id: string;
};

export function webhookBody(
  channelId: string,
  event: { type: WebhookEventType; method: WebhookEventMethod; payload: Record<string, unknown> },
): WebhookBody {
  return {
    ...event.payload,
    event: { type: event.type, event: event.method, method: event.method },
    channel_id: channelId,
  };
}

/**
 * Types whose events can be delivered under either of two methods. A webhook that subscribes to one method of a pair
 * receives all events of the pair under this method. One that subscribes to both receives each event once, as stored:
 * - a new message is stored as `post`, one that waited at the network while the session was offline as `put`; the bodies
 *   are the same;
 * - a receipt is stored as `post`;
 * - a change of a chat is stored as `patch` (before and after); `put` carries the whole chat.
 */
const METHOD_PAIRS = {
  messages: ['post', 'put'],
  statuses: ['post', 'put'],
  chats: ['patch', 'put'],
} as const satisfies Partial<Record<WebhookEventType, readonly WebhookEventMethod[]>>;

const methodPairOf = (type: WebhookEventType): readonly WebhookEventMethod[] =>
  type in METHOD_PAIRS ? METHOD_PAIRS[type as keyof typeof METHOD_PAIRS] : [];

/**
 * The stored events to deliver to a webhook, as `type.method`. {@link eventForWebhook} gives the form in which the webhook
 * receives each.
 */
export function wantedEvents(entry: Pick<WebhookEntry, 'events'>): string[] {
  const subscribed = subscribedEvents(entry);
  const paired = Object.entries(METHOD_PAIRS).flatMap(([type, methods]) => {
    const kinds = methods.map((method) => `${type}.${method}`);
    return kinds.some((kind) => subscribed.includes(kind)) ? kinds : [];
  });
  return [...new Set([...subscribed, ...paired])];
}

/** An event as it is stored. */
type StoredEvent = { type: WebhookEventType; method: WebhookEventMethod; payload: Record<string, unknown> };

/** The event as delivered to this webhook. The webhook must want it (see {@link wantedEvents}). */
export function eventForWebhook<Event extends StoredEvent>(entry: Pick<WebhookEntry, 'events'>, event: Event): Event {
  const { type, method, payload } = event;
  const subscribed = subscribedEvents(entry);
  if (subscribed.includes(`${type}.${method}`) || !methodPairOf(type).includes(method)) return event;
  const other = methodPairOf(type).find((candidate) => subscribed.includes(`${type}.${candidate}`)) ?? method;
  return { ...event, method: other, ...(type === 'chats' && other === 'put' && { payload: wholeChats(payload) }) };
}

/** The payload of `chats.put`: the whole chats in place of their changes. */
function wholeChats(payload: Record<string, unknown>): Record<string, unknown> {
  const updates = payload['chats_updates'] as EventPayloads['chats.patch']['chats_updates'];
  return { chats: updates.map((update) => update.after_update) };
}

function subscribedEvents(entry: Pick<WebhookEntry, 'events'>): string[] {
  const pairs = entry.events.flatMap(({ type: subscribed, method }) => {
    const type = canonicalEventType(subscribed);
    const methods: readonly WebhookEventMethod[] = method ? [method] : WEBHOOK_EVENT_METHODS[type];
    return methods.map((each) => `${type}.${each}`);
  });
  return [...new Set(pairs)];
}

type SubscribedType = WebhookEntry['events'][number]['type'];

/** The present name of a subscribed type. */
export function canonicalEventType(type: SubscribedType): WebhookEventType {
  switch (type) {
    case 'message':
    case 'ack':
    case 'chat':
    case 'status':
      return DEPRECATED_EVENT_TYPES[type];
    default:
      return type;
  }
}
