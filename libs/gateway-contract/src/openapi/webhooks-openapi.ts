import { z } from 'zod';
import { ANSWERS } from '../answer-schemas.js';
import { EVENT_PAYLOADS } from '../answers/events.js';
import type { EventKind } from '../event-payloads.js';
import { namedSchemas, refTo, type Json } from './json-schema.js';

/** What happened, for each kind of event. */
const SUMMARIES: Readonly<Record<EventKind, string>> = {
  'messages.post': 'A message was received or sent',
  'messages.put': 'A message arrived while the session was offline',
  'messages.patch': 'A message was edited, reacted to, voted on or deleted',
  'messages.delete': 'A message was removed, or all messages of a chat',
  'statuses.post': 'A receipt of an own message arrived',
  'statuses.put': 'A receipt of an own message arrived',
  'chats.post': 'A chat was created',
  'chats.put': 'A chat changed: the whole chat',
  'chats.patch': 'A chat changed: before and after',
  'chats.delete': 'A chat was deleted',
  'contacts.post': 'A contact was added',
  'contacts.patch': 'A contact changed',
  'groups.post': 'The number became a member of a group',
  'groups.put': 'Members of a group were added, removed, promoted or demoted',
  'groups.patch': 'A group changed',
  'presences.post': 'A contact is online, offline, typing or recording',
  'calls.post': 'A call came in, was answered or missed',
  'channel.post': 'The state of the channel changed',
  'channel.patch': 'There is a new code to scan',
  'users.post': 'The number was linked',
  'users.delete': 'The number was unlinked',
  'service.post': 'A notice about the service',
};

const HEADERS: Readonly<Record<string, string>> = {
  'webhook-id': 'Id of the event, the same at every attempt.',
  'webhook-sequence': "Place of the event among the channel's events.",
  'webhook-timestamp': 'Time of the attempt, in epoch seconds.',
  'webhook-signature': 'Signatures as Standard Webhooks has them, one for each valid secret, separated by blanks.',
};

/** What webhooks receive, as an OpenAPI 3.1 document, made from the schemas of the events. */
export function webhooksOpenApi(): Json {
  const kinds = Object.keys(EVENT_PAYLOADS) as EventKind[];
  const bodies = Object.fromEntries(kinds.map((kind) => [bodyName(kind), bodyOf(kind)]));
  return {
    openapi: '3.1.0',
    info: { title: 'Dormouse webhooks', version: '1' },
    tags: [...new Set(kinds.map(tagOf))].map((name) => ({ name })),
    webhooks: Object.fromEntries(kinds.map((kind) => [kind, { post: describe(kind) }])),
    components: { schemas: namedSchemas({ ...ANSWERS, ...bodies }) },
  };
}

const tagOf = (kind: EventKind): string => kind.slice(0, kind.indexOf('.'));

/** `messages.post` as a name of a schema: `MessagesPost`. */
function bodyName(kind: EventKind): string {
  return kind.replace(/(?:^|\.)(\w)/g, (_whole, letter: string) => letter.toUpperCase());
}

/** The body of a call: what the event carries, its kind, its channel. */
function bodyOf(kind: EventKind): z.ZodType {
  const [type = '', method = ''] = kind.split('.');
  const envelope = {
    event: z.object({
      type: z.literal(type),
      event: z.literal(method).describe('Repeats `method`.'),
      method: z.literal(method),
    }),
    channel_id: z.string(),
  };
  const payload = EVENT_PAYLOADS[kind];
  if (payload instanceof z.ZodUnion) return z.union(payload.options.map((one) => one.extend(envelope)));
  return payload.extend(envelope);
}

function describe(kind: EventKind): Json {
  return {
    operationId: kind,
    tags: [tagOf(kind)],
    summary: SUMMARIES[kind],
    parameters: Object.entries(HEADERS).map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: { required: true, content: { 'application/json': { schema: refTo(bodyName(kind)) } } },
    responses: { '2XX': { description: 'The event is accepted; everything else is a failed attempt' } },
  };
}
