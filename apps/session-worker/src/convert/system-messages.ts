/** System messages: events of a chat as one sentence. The network names the event and its parameters. */
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { textWithNames } from './names-in-text.js';
import { contactOf, type People } from './people.js';

type Sentence = (author: string, parameters: readonly string[]) => string;

const S = proto.WebMessageInfo.StubType;

const SENTENCES = new Map<number, Sentence>([
  [S.GROUP_CREATE, (author, [subject]) => `${author} created the group${subject ? ` "${subject}"` : ''}`],
  [S.GROUP_CHANGE_SUBJECT, (author, [subject]) => `${author} changed the subject to "${subject ?? ''}"`],
  [S.GROUP_CHANGE_ICON, (author) => `${author} changed the group's picture`],
  [S.GROUP_CHANGE_INVITE_LINK, (author) => `${author} changed the group's invite link`],
  [S.GROUP_CHANGE_DESCRIPTION, (author) => `${author} changed the group's description`],
  [
    S.GROUP_CHANGE_RESTRICT,
    (author, [on]) => `${author} lets ${on === 'on' ? 'only admins' : 'all members'} edit the group`,
  ],
  [
    S.GROUP_CHANGE_ANNOUNCE,
    (author, [on]) => `${author} lets ${on === 'on' ? 'only admins' : 'all members'} send messages`,
  ],
  [S.GROUP_PARTICIPANT_ADD, (author, who) => `${author} added ${who.join(', ')}`],
  [S.GROUP_PARTICIPANT_INVITE, (_, who) => `${who.join(', ')} joined by the invite link`],
  [S.GROUP_PARTICIPANT_REMOVE, (author, who) => `${author} removed ${who.join(', ')}`],
  [S.GROUP_PARTICIPANT_PROMOTE, (author, who) => `${author} made ${who.join(', ')} admin`],
  [S.GROUP_PARTICIPANT_DEMOTE, (author, who) => `${author} dismissed ${who.join(', ')} as admin`],
  [S.GROUP_PARTICIPANT_CHANGE_NUMBER, (author, who) => `${author} changed to ${who.join(', ')}`],
  [S.GROUP_PARTICIPANT_LEAVE, (_, who) => `${who.join(', ')} left`],
  [S.GROUP_DELETE, (author) => `${author} deleted the group`],
  [S.INDIVIDUAL_CHANGE_NUMBER, (_, who) => `Changed to another number${who.length > 0 ? `: ${who.join(', ')}` : ''}`],
  [S.SCHEDULED_CALL_START_MESSAGE, (author) => `${author} started a scheduled call`],
  [S.SCHEDULED_CALL_CANCEL, (author) => `${author} cancelled a scheduled call`],
  [S.CALL_MISSED_VOICE, () => 'Missed voice call'],
  [S.CALL_MISSED_VIDEO, () => 'Missed video call'],
  [S.CALL_MISSED_GROUP_VOICE, () => 'Missed group voice call'],
  [S.CALL_MISSED_GROUP_VIDEO, () => 'Missed group video call'],
]);

/**
 * The sentence of a system message; people are named by contact id.
 * @returns undefined for events that people are not shown
 */
export function systemSentence(received: WAMessage, people: People): string | undefined {
  const sentence = typeof received.messageStubType === 'number' ? SENTENCES.get(received.messageStubType) : undefined;
  if (!sentence) return undefined;
  const parameters: unknown = received.messageStubParameters;
  const named = Array.isArray(parameters) ? parameters.map((parameter) => nameOf(parameter, people)) : [];
  const { participant, participantAlt } = received.key;
  const author = received.key.fromMe
    ? people.own.phone
    : (contactOf(participant ?? participantAlt, people) ?? 'Somebody');
  return sentence(author, named);
}

/** A parameter is a text, an address, or (since groups go by LID) a participant as JSON. */
function nameOf(parameter: unknown, people: People): string {
  if (typeof parameter !== 'string') return '';
  if (!parameter.startsWith('{')) return contactOf(parameter, people) ?? textWithNames(parameter, people);
  try {
    const participant = JSON.parse(parameter) as { id?: unknown; phoneNumber?: unknown };
    const jids = [participant.phoneNumber, participant.id].filter((jid) => typeof jid === 'string');
    return jids.map((jid) => contactOf(jid, people)).find((id) => id !== undefined) ?? '';
  } catch {
    return parameter;
  }
}
