/**
 * What a webhook subscribes to, as boxes to check: one for each type of event and method. Entries that are not known here are
 * kept as they are.
 */
import type { Answer } from '../../api/operation-types.js';

export type Settings = Answer<'getSettings'>;
export type Webhook = Settings['webhooks'][number];
export type Subscription = Webhook['events'];
export type EventMethod = 'post' | 'put' | 'patch' | 'delete';

/** Held to the gateway contract by a spec: the schemas stay out of the page. */
export const EVENT_METHODS = {
  messages: ['post', 'put', 'patch', 'delete'],
  statuses: ['post', 'put'],
  chats: ['post', 'put', 'patch', 'delete'],
  contacts: ['post', 'patch'],
  groups: ['post', 'put', 'patch'],
  presences: ['post'],
  calls: ['post'],
  channel: ['post', 'patch'],
  users: ['post', 'delete'],
  labels: ['post', 'delete'],
  service: ['post'],
} as const satisfies Record<string, readonly EventMethod[]>;
export type EventType = keyof typeof EVENT_METHODS;
export const EVENT_TYPES = Object.keys(EVENT_METHODS) as EventType[];

/** Names of former times. */
export const FORMER_NAMES = {
  message: 'messages',
  ack: 'statuses',
  chat: 'chats',
  status: 'channel',
} as const satisfies Record<string, EventType>;

function typeOf(name: string): string {
  return name in FORMER_NAMES ? FORMER_NAMES[name as keyof typeof FORMER_NAMES] : name;
}

/** Whether events of this type and method are delivered. An entry without a method is every method of its type. */
export function isSubscribed(events: Subscription, type: EventType, method: EventMethod): boolean {
  return events.some((entry) => typeOf(entry.type) === type && (entry.method ?? method) === method);
}

/** The subscription with one box changed. What belongs to other types stays as it is written. */
export function withSubscribed(
  events: Subscription,
  { type, method }: { type: EventType; method: EventMethod },
  isWanted: boolean,
): Subscription {
  const methods = EVENT_METHODS[type].filter((each) => (each === method ? isWanted : isSubscribed(events, type, each)));
  const others = events.filter((entry) => typeOf(entry.type) !== type);
  return [...others, ...methods.map((each) => ({ type, method: each }))];
}
