import type { EventPayload } from './event-payloads.js';
import {
  DEPRECATED_EVENT_TYPES,
  WEBHOOK_EVENT_METHODS,
  type WebhookEntry,
  type WebhookEventMethod,
  type WebhookEventType,
} from './settings.js';

/** Something the customer must hear. */
export interface ChannelEvent {
  type: WebhookEventType;
  method: WebhookEventMethod;
  payload: EventPayload;
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

/** Has this webhook asked for such an event? An entry without method asks for every method of its type. */
export function wantsEvent(entry: WebhookEntry, event: Pick<ChannelEvent, 'type' | 'method'>): boolean {
  return entry.events.some(
    ({ type, method }) => canonicalEventType(type) === event.type && (method === undefined || method === event.method),
  );
}

/** Types whose news the compatible gateway tells by the method put, if that alone is asked for. */
const NEWS_BY_PUT: readonly WebhookEventType[] = ['messages', 'statuses'];

/**
 * The `type.method` pairs of the events a webhook is told, present names only, each once. Who asks for `put` of messages
 * or statuses and not for `post` is told what others are told by `post`; see {@link toldAs}.
 */
export function wantedEvents(entry: Pick<WebhookEntry, 'events'>): string[] {
  const asked = askedEvents(entry);
  const byPut = NEWS_BY_PUT.filter((type) => asked.includes(`${type}.put`)).map((type) => `${type}.post`);
  return [...new Set([...asked, ...byPut])];
}

/** The method by which a webhook is told an event. */
export function toldAs(
  entry: Pick<WebhookEntry, 'events'>,
  { type, method }: Pick<ChannelEvent, 'type' | 'method'>,
): WebhookEventMethod {
  if (method !== 'post' || !NEWS_BY_PUT.includes(type)) return method;
  const asked = askedEvents(entry);
  return asked.includes(`${type}.put`) && !asked.includes(`${type}.post`) ? 'put' : method;
}

function askedEvents(entry: Pick<WebhookEntry, 'events'>): string[] {
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
