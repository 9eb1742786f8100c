import type { EventPayload, EventPayloads } from './event-payloads.js';
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
 * Kinds that tell of one thing in two ways. Whoever asks for one of a pair is told of that thing in this way; whoever
 * asks for both is told of it once, as it was written:
 * - a new message is `post`, one that waited at the network while the session was away `put`, the same body;
 * - a receipt is always `post`, by `put` only to whom asks for that alone;
 * - a change of a chat is `patch` (before and after); `put`, the whole chat, to whom asks for that and not for `patch`.
 */
const TWO_WAYS = {
  messages: ['post', 'put'],
  statuses: ['post', 'put'],
  chats: ['patch', 'put'],
} as const satisfies Partial<Record<WebhookEventType, readonly WebhookEventMethod[]>>;

const waysOf = (type: WebhookEventType): readonly WebhookEventMethod[] =>
  type in TWO_WAYS ? TWO_WAYS[type as keyof typeof TWO_WAYS] : [];

/** The `type.method` pairs of the events a webhook is told, as they are written; see {@link asTold} for how. */
export function wantedEvents(entry: Pick<WebhookEntry, 'events'>): string[] {
  const asked = askedEvents(entry);
  const told = Object.entries(TWO_WAYS).flatMap(([type, ways]) => {
    const kinds = ways.map((method) => `${type}.${method}`);
    return kinds.some((kind) => asked.includes(kind)) ? kinds : [];
  });
  return [...new Set([...asked, ...told])];
}

/** An event as it was written. */
type WrittenEvent = { type: WebhookEventType; method: WebhookEventMethod; payload: Record<string, unknown> };

/** An event as this webhook, which wants it, is told of it. */
export function asTold<Event extends WrittenEvent>(entry: Pick<WebhookEntry, 'events'>, event: Event): Event {
  const { type, method, payload } = event;
  const asked = askedEvents(entry);
  if (asked.includes(`${type}.${method}`) || !waysOf(type).includes(method)) return event;
  const other = waysOf(type).find((way) => asked.includes(`${type}.${way}`)) ?? method;
  return { ...event, method: other, ...(type === 'chats' && other === 'put' && { payload: wholeChats(payload) }) };
}

/** What `chats.put` carries in place of a change. */
function wholeChats(payload: Record<string, unknown>): Record<string, unknown> {
  const updates = payload['chats_updates'] as EventPayloads['chats.patch']['chats_updates'];
  return { chats: updates.map((update) => update.after_update) };
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
