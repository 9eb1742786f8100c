import type { ZodType } from 'zod';
import { draftBody } from './draft.js';
import { fault } from './faults.routes.js';
import { groupChange, joining, membership, newGroup, requestAnswer } from './groups.routes.js';
import { askingAgain, eventFilter, eventWait, marking, messageFilter, messageWait } from './messages.routes.js';
import { clockMove, traceFilter } from './network.routes.js';
import { letters, newPhone, numberChange, scan, settings } from './phones.routes.js';
import {
  availability,
  blocking,
  chatChange,
  limitsBody,
  naming,
  nudging,
  pastBody,
  pictureBody,
  privacyBody,
  profileBody,
  ringing,
  typing,
} from './profile.routes.js';
import { serverStanza, stanza } from './raw.routes.js';

/** One call of the control API, described. */
export interface Operation {
  summary: string;
  body?: ZodType;
  query?: ZodType;
}

/** Every call, by method and path as the router knows them; a spec holds this list to the routes. */
export const operations: Record<string, Operation> = {
  'GET /health': { summary: 'Answers while the simulator is up.' },
  'GET /network': { summary: 'Where clients connect, and the root key they pin.' },
  'GET /usage': { summary: 'Memory and processor time of the simulator so far.' },
  'GET /certificate': { summary: 'The certificate of https and wss, as PEM.' },
  'GET /openapi.json': { summary: 'This description.' },
  'GET /docs': { summary: 'This description, for people.' },
  'POST /phones': { summary: 'Makes a phone; the number is made up when absent.', body: newPhone },
  'GET /phones': { summary: 'All phones.' },
  'GET /numbers/:number': { summary: 'Whether a number, as people type it, is on the network.' },
  'GET /stream': { summary: 'Phones that come and go, and what becomes of faults (server-sent events).' },
  'GET /phones/:phone': { summary: 'A phone with its linked devices and the ids it could not read.' },
  'POST /phones/:phone/scan': {
    summary: 'Scans a linking code: its text, its PNG, the address of a PNG, or the name of a login that waits.',
    body: scan,
  },
  'POST /phones/:phone/link-code': { summary: 'Enters the eight letters that a client shows.', body: letters },
  'POST /phones/:phone/settings': { summary: 'How the phone behaves by itself.', body: settings },
  'DELETE /phones/:phone/devices/:device': { summary: 'Unlinks a device from the phone.' },
  'POST /phones/:phone/devices/:device/nudge': { summary: 'Makes a device do some housekeeping.', body: nudging },
  'GET /waiting-logins': { summary: 'Logins that wait to be scanned, by name (read from WAITING_LOGINS_URL).' },
  'GET /codes': { summary: 'Clients that show a linking code now.' },
  'POST /admin/mock-phone/scan-qr': { summary: 'Links a new phone; the body is the text of the code.' },
  'POST /phones/:phone/messages': { summary: 'Sends anything as this phone.', body: draftBody },
  'GET /phones/:phone/messages': { summary: 'What the phone has, decrypted, in order.', query: messageFilter },
  'GET /phones/:phone/messages/:id/file': { summary: "A message's file, decrypted." },
  'POST /phones/:phone/messages/wait': {
    summary: 'The first message that fits; 408 at the deadline.',
    body: messageWait,
  },
  'POST /phones/:phone/read': { summary: 'Reads messages: receipts go out.', body: marking },
  'POST /phones/:phone/play': { summary: 'Plays voice messages: receipts go out.', body: marking },
  'POST /phones/:phone/ask-again': {
    summary: 'Asks a device for another copy of a message, as a phone does that could not read it.',
    body: askingAgain,
  },
  'GET /phones/:phone/events': { summary: 'What else the phone noticed.', query: eventFilter },
  'POST /phones/:phone/events/wait': { summary: 'The first event that fits; 408 at the deadline.', body: eventWait },
  'GET /phones/:phone/stream': { summary: 'Messages and events as they come (server-sent events).' },
  'GET /phones/:phone/chats': { summary: 'The chats, the newest first.' },
  'POST /phones/:phone/chats': {
    summary: 'Archives, pins, mutes, clears, deletes a chat; stars; deletes a message for oneself.',
    body: chatChange,
  },
  'GET /phones/:phone/contacts': { summary: 'The address book.' },
  'POST /phones/:phone/contacts': { summary: 'Names a contact.', body: naming },
  'POST /phones/:phone/history': { summary: 'Makes up messages of the past.', body: pastBody },
  'POST /phones/:phone/profile': { summary: 'Name and about.', body: profileBody },
  'POST /phones/:phone/picture': { summary: 'Sets or removes a picture.', body: pictureBody },
  'POST /phones/:phone/privacy': { summary: 'Who may see what.', body: privacyBody },
  'POST /phones/:phone/block': { summary: 'Blocks or unblocks somebody.', body: blocking },
  'POST /phones/:phone/presence': { summary: 'Opens or leaves the app.', body: availability },
  'POST /phones/:phone/typing': { summary: 'Types, records, stops.', body: typing },
  'POST /phones/:phone/calls': { summary: 'Rings somebody.', body: ringing },
  'DELETE /phones/:phone/calls/:id': { summary: 'Gives up a call (`?to=`).' },
  'GET /groups': { summary: 'All groups.' },
  'GET /phones/:phone/groups': { summary: 'The groups of a phone.' },
  'POST /phones/:phone/groups': { summary: 'Makes a group.', body: newGroup },
  'PATCH /phones/:phone/groups/:group': {
    summary: 'Changes a group; with `approval`, who joins by link asks the admins first.',
    body: groupChange,
  },
  'POST /phones/:phone/groups/:group/members': { summary: 'Adds, removes, promotes, demotes.', body: membership },
  'POST /phones/:phone/groups/:group/requests': {
    summary: 'Lets in, or turns away, people who requested to join (`waiting` of the group).',
    body: requestAnswer,
  },
  'DELETE /phones/:phone/groups/:group/requests': { summary: 'Withdraws a request to join.' },
  'POST /phones/:phone/groups/:group/leave': { summary: 'Leaves a group.' },
  'POST /phones/:phone/groups/:group/revoke-invite': { summary: 'Makes a new link.' },
  'POST /phones/:phone/join': {
    summary: 'Joins by link, or asks to where admins approve; accepts an invitation.',
    body: joining,
  },
  'GET /connections': { summary: 'Who is and was logged in.' },
  'POST /faults': { summary: 'Makes something go wrong.', body: fault },
  'GET /faults': { summary: 'The faults in force.' },
  'DELETE /faults/:id': { summary: 'Takes a fault back.' },
  'GET /clock': { summary: "The network's time." },
  'POST /clock': {
    summary: 'Moves the time forward: codes, invitations and files expire, unused phones lose their devices.',
    body: clockMove,
  },
  'DELETE /clock': { summary: 'Back to the real time.' },
  'POST /reset': { summary: 'Back to an empty network: no phones, groups, files or faults. Keys and addresses stay.' },
  'GET /trace': { summary: 'The last stanzas of connections, decrypted.', query: traceFilter },
  'POST /phones/:phone/stanzas': { summary: 'Sends a stanza as this phone.', body: stanza },
  'POST /phones/:phone/devices/:device/stanzas': {
    summary: 'Sends a linked device a stanza as the server.',
    body: serverStanza,
  },
  'DELETE /phones/:phone': { summary: 'Takes a number off the network, with its devices and memberships.' },
  'POST /phones/:phone/change-number': {
    summary: 'Goes on under another number; groups are notified.',
    body: numberChange,
  },
  'DELETE /groups/:group': { summary: 'Ends a group: everybody is removed.' },
  'POST /limits': { summary: 'How much the network bears.', body: limitsBody },
};
