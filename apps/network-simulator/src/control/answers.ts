import { z } from 'zod';

const text = z.string();
const count = z.number().int();
const time = z.string().describe('ISO 8601, UTC.');
const id = text.describe('Id of a message or stanza.');
const digits = text.describe('Digits of a number.');
const byPerson = <T extends z.ZodType>(value: T) => z.record(text, value).describe('By address of the person.');

const phone = z.object({ phone: digits, lid: text.describe('The private id.'), name: text });
const device = z.object({
  device: count,
  online: z.boolean(),
  linkedAt: time,
  waiting: count.describe('Stanzas that it has not confirmed.'),
  platform: text,
});
const phoneSettings = z.object({ autoDeliver: z.boolean(), historyFiles: z.enum(['large', 'always']).optional() });
const message = z.looseObject({
  id,
  chat: text.describe('Address of the person or group.'),
  from: text,
  fromMe: z.boolean(),
  type: text.describe('Kind: text, image, poll, template and so on; `unknown` for what has no name here.'),
  text: text.describe('Its words: text, caption, name of a poll or place.'),
  timestamp: count.describe('Seconds since 1970.'),
  receivedSeq: count.describe('Place in the order in which the phone got its messages.'),
  deliveries: count.describe('How many times the network brought it.'),
  status: z.enum(['error', 'pending', 'sent', 'delivered', 'read', 'played']),
  pushName: text.optional(),
  reactions: byPerson(text).optional(),
  votes: byPerson(z.array(text)).optional(),
  answers: byPerson(text).optional(),
  edited: z.boolean().optional(),
  deleted: z.boolean().optional(),
  target: text.optional().describe('Of what changes another message: its id.'),
  quoted: text.optional(),
  options: z.array(text).optional(),
  offer: z.object({ header: text.optional(), footer: text.optional(), choices: z.array(text) }).optional(),
  file: z.looseObject({ mimetype: text.optional(), length: z.number(), directPath: text.optional() }).optional(),
});
const event = z.looseObject({ kind: text, what: text, chat: text, from: text, at: time });
const chat = z.looseObject({ chat: text, name: text, unread: count, lastAt: count });
const chatSettings = z.looseObject({ archived: z.boolean().optional(), mutedUntilMs: z.number().optional() });
const contacts = z.record(text, text).describe('Names by address.');
const outcome = z.object({
  phone: text,
  status: count.describe('200, or why not: 403, 404, 409.'),
  invitation: z.object({ code: text, until: count }).optional(),
});
const group = z.object({
  id: text.describe('Address of the group.'),
  subject: text,
  description: text,
  addressing: z.enum(['lid', 'pn']),
  announcement: z.boolean(),
  locked: z.boolean(),
  addMode: z.enum(['all_member_add', 'admin_add']),
  ephemeralSeconds: count,
  approval: z.boolean(),
  waiting: z.array(z.object({ phone: text, at: count })),
  inviteCode: text,
  members: z.array(z.object({ phone: text, role: z.enum(['superadmin', 'admin', 'member']) })),
});
const fault = z.looseObject({ id: text, kind: text, phone: text.optional(), count: count.optional() });
const clock = z.object({ now: time, movedSeconds: z.number() });
const ids = z.object({ ids: z.array(id) });
const limits = z.object({ groupQueriesPerMinute: count, patchesPerAnswer: count, snapshotAfterPatches: count });
const removed = z.object({ removed: text });
const sent = z.object({ id });
const linked = z.object({ device: count });

/** An answer that is not JSON. */
export interface OtherAnswer {
  type: string;
}

/** What a call answers when it succeeds. */
export interface Answer {
  status: number;
  body: z.ZodType | OtherAnswer;
  /** When it answers so; absent where it always does. */
  description?: string;
}

const json = (body: z.ZodType, status = 200): Answer[] => [{ status, body }];
const other = (type: string): Answer[] => [{ status: 200, body: { type } }];

/** What becomes of `POST /faults`: it depends on the kind. */
const faultAnswers: Answer[] = [
  { status: 201, body: fault, description: 'The fault is in force until it is taken back or used up.' },
  {
    status: 200,
    body: z.union([
      z.object({ dropped: count.describe('Of drop: how many connections were cut.') }),
      z.object({ times: count.describe('Of storm: how many times every connection is cut.') }),
      z.object({ expired: count.describe('Of expire-media: how many files expired.') }),
    ]),
    description: 'The kinds drop, storm and expire-media happen at once: there is nothing to take back.',
  },
];

/** The answers of all calls, by method and path; of each call no two have the same status. */
export const answers: Record<string, readonly Answer[]> = {
  'GET /health': json(z.object({ ok: z.literal(true) })),
  'GET /network': json(z.object({ socketUrl: text, rootKey: text.describe('Base64 of 32 bytes.') })),
  'GET /usage': json(z.object({ rssBytes: count, heapBytes: count, cpuMs: z.number(), phones: count })),
  'GET /certificate': other('application/x-pem-file'),
  'GET /openapi.json': other('application/json'),
  'GET /docs': other('text/html'),
  'POST /phones': json(phone, 201),
  'GET /phones': json(z.array(phone)),
  'GET /stream': other('text/event-stream'),
  'GET /numbers/:number': json(z.object({ exists: z.boolean(), ...phone.partial().shape })),
  'GET /phones/:phone': json(
    phone.extend({ devices: z.array(device), unreadable: z.array(id), settings: phoneSettings }),
  ),
  'DELETE /phones/:phone': json(removed),
  'POST /phones/:phone/change-number': json(phone),
  'POST /phones/:phone/scan': json(linked),
  'POST /phones/:phone/link-code': json(linked),
  'POST /phones/:phone/settings': json(phoneSettings),
  'DELETE /phones/:phone/devices/:device': json(z.object({ unlinked: count })),
  'POST /phones/:phone/devices/:device/nudge': json(z.object({ what: text })),
  'POST /phones/:phone/devices/:device/stanzas': json(z.object({ id, online: z.boolean() }), 202),
  'POST /phones/:phone/stanzas': json(sent, 202),
  'GET /waiting-logins': json(z.array(z.object({ name: text }))),
  'GET /codes': json(z.array(z.object({ ref: text, platform: text }))),
  'POST /admin/mock-phone/scan-qr': json(phone.extend({ device: count })),
  'POST /phones/:phone/messages': json(sent, 201),
  'GET /phones/:phone/messages': json(z.array(message)),
  'GET /phones/:phone/messages/:id/file': other('application/octet-stream'),
  'POST /phones/:phone/messages/wait': json(message),
  'POST /phones/:phone/read': json(ids),
  'POST /phones/:phone/play': json(ids),
  'POST /phones/:phone/ask-again': json(z.object({ id, to: text }), 202),
  'GET /phones/:phone/events': json(z.array(event)),
  'POST /phones/:phone/events/wait': json(event),
  'GET /phones/:phone/stream': other('text/event-stream'),
  'GET /phones/:phone/chats': json(z.array(chat)),
  'POST /phones/:phone/chats': json(chatSettings),
  'GET /phones/:phone/contacts': json(contacts),
  'POST /phones/:phone/contacts': json(contacts),
  'POST /phones/:phone/history': json(z.object({ added: count })),
  'POST /phones/:phone/profile': json(z.object({ phone: digits, name: text, about: text })),
  'POST /phones/:phone/picture': json(z.object({ id: text.nullable() })),
  'POST /phones/:phone/privacy': json(z.record(text, text)),
  'POST /phones/:phone/block': json(z.object({ blocked: z.array(digits) })),
  'POST /phones/:phone/presence': json(z.object({ available: z.boolean() })),
  'POST /phones/:phone/typing': json(z.object({ state: text })),
  'POST /phones/:phone/calls': json(sent),
  'DELETE /phones/:phone/calls/:id': json(z.object({ ended: id })),
  'GET /groups': json(z.array(group)),
  'DELETE /groups/:group': json(removed),
  'GET /phones/:phone/groups': json(z.array(group)),
  'POST /phones/:phone/groups': json(group.extend({ outcomes: z.array(outcome) }), 201),
  'PATCH /phones/:phone/groups/:group': json(group),
  'POST /phones/:phone/groups/:group/members': json(z.array(outcome)),
  'POST /phones/:phone/groups/:group/requests': json(z.array(outcome)),
  'DELETE /phones/:phone/groups/:group/requests': json(z.object({ withdrawn: text })),
  'POST /phones/:phone/groups/:group/leave': json(z.object({ left: text })),
  'POST /phones/:phone/groups/:group/revoke-invite': json(z.object({ code: text })),
  'POST /phones/:phone/join': json(group),
  'GET /connections': json(
    z.object({
      open: z.array(z.object({ connection: count, phone: digits, device: count, since: time })),
      opened: count,
      overlaps: count.describe('Logins while an older socket of the same device was open.'),
      log: z.array(z.object({ phone: digits, device: count, at: time, event: z.enum(['open', 'close', 'replaced']) })),
    }),
  ),
  'GET /clock': json(clock),
  'POST /clock': json(
    clock.extend({ unlinked: z.array(z.object({ phone: digits, device: count })), expiredFiles: count }),
  ),
  'DELETE /clock': json(clock),
  'POST /reset': json(z.object({ phones: count, groups: count, connections: count })),
  'GET /trace': json(
    z.array(
      z.looseObject({
        seq: count,
        connection: count,
        phone: digits.optional(),
        device: count.optional(),
        direction: z.enum(['in', 'out']).describe('`in`: from the client.'),
        at: time,
        stanza: z.looseObject({ tag: text }),
        message: z.looseObject({}).optional().describe('The decrypted content of the message in it.'),
      }),
    ),
  ),
  'POST /faults': faultAnswers,
  'GET /faults': json(z.array(fault)),
  'DELETE /faults/:id': json(removed),
  'POST /limits': json(limits),
};
