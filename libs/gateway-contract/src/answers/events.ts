import { z } from 'zod';
import type { EventKind, EventPayloads } from '../event-payloads.js';
import { callEvent, health, qrEvent, serviceNotice } from './channel.js';
import { chat, contactShape, group, participantsEvent, presence } from './chats-and-contacts.js';
import { message, statusEntry } from './messages.js';

const changes = z.array(z.string()).describe('Names of the fields that differ.');
/** Of a thing before or after a change only the id is sure to be known. */
const id = { id: z.string() };
const chatChange = { before_update: chat.partial().extend(id), after_update: chat.partial().extend(id), changes };
const groupChange = { before_update: group.partial().extend(id), after_update: group.partial().extend(id), changes };
const contact = contactShape.partial().extend(id);

const messageUpdate = z.object({
  ...id,
  before_update: message,
  after_update: message,
  changes,
  trigger: message.optional().describe('The action message that did it.'),
});

/** What each kind of event carries. */
export const EVENT_PAYLOADS = {
  'messages.post': z.object({ messages: z.tuple([message]) }),
  'messages.put': z.object({ messages: z.tuple([message]) }),
  'messages.patch': z.object({ messages_updates: z.tuple([messageUpdate]) }),
  'messages.delete': z.union([
    z.object({ messages_removed: z.tuple([z.string()]) }),
    z.object({ messages_removed_all: z.string().describe('Id of the chat that was cleared.') }),
  ]),
  'statuses.post': z.object({ statuses: z.tuple([statusEntry]) }),
  'statuses.put': z.object({ statuses: z.tuple([statusEntry]) }),
  'chats.post': z.object({ chats: z.tuple([chat]) }),
  'chats.put': z.object({ chats: z.tuple([chat]) }),
  'chats.patch': z.object({ chats_updates: z.tuple([z.object(chatChange)]) }),
  'chats.delete': z.object({ chats_removed: z.tuple([z.string()]) }),
  'contacts.post': z.object({ contacts: z.tuple([contactShape]) }),
  'contacts.patch': z.object({
    contacts_updates: z.tuple([z.object({ before_update: contact, after_update: contact, changes })]),
  }),
  'groups.post': z.object({ groups: z.tuple([group]) }),
  'groups.put': z.object({ groups_participants: z.tuple([participantsEvent]) }),
  'groups.patch': z.object({ groups_updates: z.tuple([z.object(groupChange)]) }),
  'presences.post': z.object({ presences: z.tuple([presence]) }),
  'calls.post': z.object({ calls: z.tuple([callEvent]) }),
  'channel.post': z.object({ health }),
  'channel.patch': z.object({ qr: qrEvent }),
  'users.post': z.object({ user: contactShape }),
  'users.delete': z.object({ user: contactShape }),
  'service.post': z.object({ errors: z.tuple([serviceNotice]) }),
} satisfies { [Kind in EventKind]: z.ZodType<EventPayloads[Kind]> };
