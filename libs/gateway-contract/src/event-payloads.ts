import type { Health } from './channel.js';
import type { Chat } from './chats.js';
import type { ContactShape } from './contacts.js';
import type { Group } from './groups.js';
import type { Message, StatusEntry } from './messages.js';
import type { Presence } from './presences.js';

/** A stored thing before and after a change; `changes` names the fields that differ. */
export interface Change<Thing> {
  before_update: Thing;
  after_update: Thing;
  changes: string[];
}

/** A chat, contact or group in a change may be known in part only. */
type Snapshot<Thing extends { id: string }> = Pick<Thing, 'id'> & Partial<Thing>;

/** A message that was edited, reacted to, voted on or deleted; `trigger` is the action message that did it. */
export interface MessageUpdate extends Change<Message> {
  id: string;
  trigger?: Message;
}

export type ChatUpdate = Change<Snapshot<Chat>>;
export type ContactUpdate = Change<Snapshot<ContactShape>>;
export type GroupUpdate = Change<Snapshot<Group>>;

export interface ParticipantsEvent {
  group_id: string;
  /** Contact ids. */
  participants: string[];
  action: 'add' | 'remove' | 'promote' | 'demote' | 'request' | 'revoke_request' | 'rejected_request';
}

export interface CallEvent {
  id: string;
  /** Chat ids, not contact ids. */
  from: string;
  chat_id: string;
  status: 'initiated' | 'ringing' | 'missed' | 'canceled' | 'answered';
  /** Epoch milliseconds. */
  timestamp: number;
  group_call?: boolean;
  video_call?: boolean;
  offline_call?: boolean;
  /** Milliseconds. */
  latency?: number;
}

/** A new code to scan. */
export interface QrEvent {
  status: 'OK' | 'TIMEOUT' | 'WAITING' | 'ERROR';
  /** The picture as data: URI. */
  base64?: string;
  /** The text encoded in the picture. */
  rowdata?: string;
  /** Seconds until the next code. */
  expire?: number;
}

/** A notice about billing. */
export interface ServiceNotice {
  code: number;
  message: string;
  details?: string;
}

/** What each kind of event carries: exactly one key per call, never an empty list. There are no events for labels. */
export interface EventPayloads {
  'messages.post': { messages: [Message] };
  /** Arrived while the session was offline. */
  'messages.put': { messages: [Message] };
  'messages.patch': { messages_updates: [MessageUpdate] };
  /** One message, or all messages of a chat. */
  'messages.delete': { messages_removed: [string] } | { messages_removed_all: string };
  'statuses.post': { statuses: [StatusEntry] };
  'statuses.put': { statuses: [StatusEntry] };
  'chats.post': { chats: [Chat] };
  'chats.put': { chats: [Chat] };
  'chats.patch': { chats_updates: [ChatUpdate] };
  'chats.delete': { chats_removed: [string] };
  'contacts.post': { contacts: [ContactShape] };
  'contacts.patch': { contacts_updates: [ContactUpdate] };
  'groups.post': { groups: [Group] };
  'groups.put': { groups_participants: [ParticipantsEvent] };
  'groups.patch': { groups_updates: [GroupUpdate] };
  'presences.post': { presences: [Presence] };
  'calls.post': { calls: [CallEvent] };
  'channel.post': { health: Health };
  'channel.patch': { qr: QrEvent };
  'users.post': { user: ContactShape };
  'users.delete': { user: ContactShape };
  'service.post': { errors: [ServiceNotice] };
}
export type EventKind = keyof EventPayloads;

/** The payload of an event, without the envelope of a webhook call. */
export type EventPayload = EventPayloads[EventKind];
