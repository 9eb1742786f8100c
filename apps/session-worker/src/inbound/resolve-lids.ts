import { isGroup, readJid, type KnownNumbers } from '../convert/jid.js';
import type { People } from '../convert/people.js';
import type { OpenSession } from '../socket/open-session.js';
import type { InboundContext } from './inbound-context.js';

/** How deep addresses lie in a message: wrappers, content, context, quoted content, its context. */
const MAX_DEPTH = 10;

/** A person named in a text or on a contact card by more digits than most numbers have: a LID, perhaps. */
const NAMED_IN_TEXT = /(?:@|\bwaid=)(\d{14,16})(?![\d@])/gi;

/**
 * Finds out who the people in something received are: the numbers of the LIDs in it, from the pairs it carries itself and
 * from what the device has learnt.
 * @param known numbers that came beside it, by the user part of their LIDs
 */
export async function resolveLids(
  session: OpenSession,
  received: unknown,
  known: KnownNumbers = new Map(),
): Promise<People> {
  const lids = new Set<string>();
  const pairs = new Map<string, string>();
  collect(received, lids, pairs, 0);
  for (const lid of lids) {
    const user = readJid(lid)?.user ?? '';
    const number = known.get(user);
    if (number !== undefined && !pairs.has(user)) pairs.set(user, number);
  }
  const unknown = [...lids].filter((lid) => !pairs.has(readJid(lid)?.user ?? ''));
  const learnt = await session.network.people.numbersOfLids(unknown);
  return { own: session.identity, numbers: new Map([...learnt, ...pairs]) };
}

/**
 * The same for something received in groups. A member who never wrote to this device is known by number from the
 * description of the group alone.
 */
export async function resolveLidsInGroups(
  { session, groups }: Pick<InboundContext, 'session' | 'groups'>,
  received: unknown,
): Promise<People> {
  const people = await resolveLids(session, received);
  const lids = new Set<string>();
  collect(received, lids, new Map(), 0);
  const users = [...lids].flatMap((lid) => readJid(lid)?.user ?? []);
  const unknown = users.filter((user) => user !== people.own.lid && !people.numbers.has(user));
  const groupIds = unknown.length > 0 ? [...groupsIn(received, 0)] : [];
  if (groupIds.length === 0) return people;
  const members = await groups.numbersOfMembers(session.channelId, groupIds, unknown);
  return { ...people, numbers: new Map([...members, ...people.numbers]) };
}

function groupsIn(value: unknown, depth: number): Set<string> {
  if (typeof value === 'string') return new Set(isGroup(value) ? [value] : []);
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || ArrayBuffer.isView(value)) return new Set();
  return new Set(Object.values(value).flatMap((entry) => [...groupsIn(entry, depth + 1)]));
}

function collect(value: unknown, lids: Set<string>, pairs: Map<string, string>, depth: number): void {
  if (typeof value === 'string') {
    if (value.endsWith('@lid')) lids.add(value);
    else if (/@|waid=/i.test(value))
      for (const [, user] of value.matchAll(NAMED_IN_TEXT)) lids.add(`${user ?? ''}@lid`);
    return;
  }
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || ArrayBuffer.isView(value)) return;
  if (Array.isArray(value)) {
    for (const entry of value) collect(entry, lids, pairs, depth + 1);
    return;
  }
  notePair(value, 'remoteJid', 'remoteJidAlt', pairs);
  notePair(value, 'participant', 'participantAlt', pairs);
  notePair(value, 'id', 'phoneNumber', pairs);
  notePair(value, 'id', 'lid', pairs);
  notePair(value, 'lid', 'pn', pairs);
  for (const entry of Object.values(value)) collect(entry, lids, pairs, depth + 1);
}

/** Two fields that name the same person, one by LID and one by number. */
function notePair(value: object, one: string, other: string, pairs: Map<string, string>): void {
  const jids = [Reflect.get(value, one), Reflect.get(value, other)].map((jid: unknown) =>
    typeof jid === 'string' ? readJid(jid) : undefined,
  );
  const lid = jids.find((jid) => jid?.server === 'lid');
  const number = jids.find((jid) => jid?.server === 's.whatsapp.net');
  if (lid && number) pairs.set(lid.user, number.user);
}
