import type { EventKind } from './event-payloads.js';

type Path = readonly (string | number)[];

/** Where each kind of event names the chat it belongs to; null for kinds that belong to none. */
const CHAT_PATHS = {
  'messages.post': ['messages', 0, 'chat_id'],
  'messages.put': ['messages', 0, 'chat_id'],
  'messages.patch': ['messages_updates', 0, 'after_update', 'chat_id'],
  'messages.delete': ['messages_removed_all'], // a single message is named by its id alone
  'statuses.post': ['statuses', 0, 'recipient_id'],
  'statuses.put': ['statuses', 0, 'recipient_id'],
  'chats.post': ['chats', 0, 'id'],
  'chats.put': ['chats', 0, 'id'],
  'chats.patch': ['chats_updates', 0, 'after_update', 'id'],
  'chats.delete': ['chats_removed', 0],
  'contacts.post': null,
  'contacts.patch': null,
  'groups.post': ['groups', 0, 'id'],
  'groups.put': ['groups_participants', 0, 'group_id'],
  'groups.patch': ['groups_updates', 0, 'after_update', 'id'],
  'presences.post': ['presences', 0, 'contact_id'],
  'calls.post': ['calls', 0, 'chat_id'],
  'channel.post': null,
  'channel.patch': null,
  'users.post': null,
  'users.delete': null,
  'service.post': null,
} as const satisfies Record<EventKind, Path | null>;

/**
 * Id of the chat an event belongs to: within a chat events are delivered in order. Undefined: it belongs to none (the
 * channel itself, contacts, notices), or its payload is of a kind that this build does not know.
 * @param event as it is stored; `conversation` is set for events whose payload names no chat
 */
export function conversationOf(event: {
  type: string;
  method: string;
  payload: Record<string, unknown>;
  conversation?: string | null;
}): string | undefined {
  if (event.conversation) return event.conversation;
  const kind = `${event.type}.${event.method}`;
  const path: Path | null = Object.hasOwn(CHAT_PATHS, kind) ? CHAT_PATHS[kind as EventKind] : null;
  const found = path ? textAt(event.payload, path) : undefined;
  // Presences name a contact, by digits where the number is known: what is seen of it belongs to the chat with it.
  return found !== undefined && event.type === 'presences' && !found.includes('@') ? `${found}@s.whatsapp.net` : found;
}

function textAt(payload: unknown, path: Path): string | undefined {
  let value = payload;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, step);
  }
  return typeof value === 'string' && value !== '' ? value : undefined;
}
