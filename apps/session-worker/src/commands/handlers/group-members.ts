/** Adds, removes, promotes and demotes members, and returns the result for each. */
import {
  GatewayError,
  type ParticipantInvite,
  type ParticipantsInput,
  type ParticipantsResult,
  type Success,
} from '@dormouse/gateway-contract';
import { memberId, type GroupRecord, type MemberRecord } from '@dormouse/message-store/write';
import { groupAfter, isOwnMember, memberFromNetwork, type MemberAction } from '../../convert/group.js';
import { contactJid, readJid } from '../../convert/jid.js';
import type { GroupStore } from '../../groups/group-store.js';
import type { InviteOffer, MemberAnswer } from '../../socket/requests/group-requests.js';
import type { OpenSession } from '../../socket/open-session.js';
import type { CommandContext } from '../command-context.js';
import { asMember, isAdmin, requireAdmin } from './group-rights.js';

interface MemberTools {
  readonly groups: Pick<GroupStore, 'read' | 'refresh' | 'change'>;
}

const INVITE_HOST = 'https://chat.whatsapp.com/';

/** The link of a group. */
export function inviteLink(code: string): string {
  return INVITE_HOST + code;
}

/** Codes of the network in its answer about one person. */
const DONE = '200';
const ALREADY = '409';
/** There is no such number. All other refusals come from the person's own settings: an invitation helps. */
const UNKNOWN = '404';

/** A contact that the customer named, with its addresses. */
interface NamedContact {
  id: string;
  lid: string | undefined;
}

/** The network's answer about one person. */
interface Outcome {
  named: NamedContact;
  status: string;
  member: MemberRecord | undefined;
  /** An invitation for this person only, and its end in epoch seconds. */
  offer: InviteOffer | undefined;
}

/** Adds people. Those who cannot be added are listed, with an invitation to send. */
export async function addMembers(
  context: CommandContext,
  tools: MemberTools,
  { groupId, participants }: ParticipantsInput,
): Promise<ParticipantsResult> {
  const session = context.session();
  const group = await tools.groups.read(session, groupId);
  if (!group.facts.membersMayAdd) requireAdmin(session, group);
  const missing = await missingFrom(session, group, participants);
  const outcomes = await changeMembers(session, tools, group, missing, 'add', ({ id }) => contactJid(id));
  const added = outcomes.filter(({ status }) => status === DONE);
  const members = added.map(({ named, member }) => member && withNumber(member, named));
  await storeChange(session, tools, groupId, 'add', members);
  const failed = outcomes.filter(({ status }) => status !== DONE && status !== ALREADY);
  const refused = failed.filter(({ status }) => status !== UNKNOWN);
  const offers = new Map(refused.flatMap(({ named, offer }) => (offer ? [[named.id, offer] as const] : [])));
  const ids = refused.map(({ named }) => named.id);
  const invites = await invitesFor(session, tools, group, ids, offers);
  const failedIds = failed.map(({ named }) => named.id);
  return {
    success: true,
    processed: participants.filter((id) => !failedIds.includes(id)),
    failed: failedIds,
    ...(invites.length > 0 && { invites }),
  };
}

/** Removes members. Those who are no members, or may not be removed (the creator), are listed as failed. */
export async function removeMembers(
  context: CommandContext,
  tools: MemberTools,
  { groupId, participants }: ParticipantsInput,
): Promise<ParticipantsResult> {
  const session = context.session();
  const group = await tools.groups.read(session, groupId);
  requireAdmin(session, group);
  const strangers = await missingFrom(session, group, participants);
  const present = participants.filter((id) => !strangers.includes(id));
  const outcomes = await changeMembers(session, tools, group, present, 'remove', wireName(group));
  await storeChange(session, tools, groupId, 'remove', changedMembers(group, outcomes));
  const processed = outcomes.filter(({ status }) => status === DONE).map(({ named }) => named.id);
  return { success: true, processed, failed: participants.filter((id) => !processed.includes(id)) };
}

/**
 * Makes members admins, or admins members.
 * @throws {GatewayError} 404 when one of them is no member (nothing is changed), 403 when the network refuses one
 */
export async function changeRanks(
  context: CommandContext,
  tools: MemberTools,
  { groupId, participants }: ParticipantsInput,
  action: 'promote' | 'demote',
): Promise<Success> {
  const session = context.session();
  const group = await tools.groups.read(session, groupId);
  requireAdmin(session, group);
  const strangers = await missingFrom(session, group, participants);
  if (strangers.length > 0) throw new GatewayError(404, { details: `participants: not a member: ${strangers[0]}` });
  const outcomes = await changeMembers(session, tools, group, participants, action, wireName(group));
  await storeChange(session, tools, groupId, action, changedMembers(group, outcomes));
  const refused = outcomes.find(({ status }) => status !== DONE && status !== ALREADY);
  if (refused) throw new GatewayError(403, { details: `participants: refused by the network: ${refused.named.id}` });
  return { success: true };
}

/** Those of the contacts that are not in the group. */
export async function missingFrom(
  session: OpenSession,
  group: GroupRecord,
  contacts: readonly string[],
): Promise<string[]> {
  const named = await Promise.all(contacts.map((id) => withAddresses(session, id)));
  return named.filter((each) => !memberNamed(session, group, each)).map(({ id }) => id);
}

/**
 * Invitations for people who could not be added: the group's own link where the channel may see it, because it works for
 * everybody; else the one that the network offered for this person only.
 */
export async function invitesFor(
  session: OpenSession,
  tools: MemberTools,
  group: GroupRecord,
  people: readonly string[],
  offers: ReadonlyMap<string, InviteOffer>,
): Promise<ParticipantInvite[]> {
  if (people.length === 0) return [];
  const code = isAdmin(session, group)
    ? await asMember(session, tools, group, () => session.network.groups.inviteCode(group.id))
    : undefined;
  return people.flatMap((participant) => {
    const offer = code === undefined ? offers.get(participant) : { code };
    return offer
      ? [
          {
            participant,
            invite_code: offer.code,
            invite_link: inviteLink(offer.code),
            ...(offer.expiration !== undefined && { expiration: offer.expiration }),
          },
        ]
      : [];
  });
}

async function changeMembers(
  session: OpenSession,
  tools: MemberTools,
  group: GroupRecord,
  contacts: readonly string[],
  action: MemberAction,
  jidOf: (named: NamedContact) => string,
): Promise<Outcome[]> {
  if (contacts.length === 0) return [];
  const named = await Promise.all(contacts.map((id) => withAddresses(session, id)));
  const answers = await asMember(session, tools, group, () =>
    session.network.groups.changeMembers(group.id, named.map(jidOf), action),
  );
  return named.map((each, index) => {
    const answer = answers.find((answer) => isAbout(each, answer)) ?? sameOrder(answers, named, index);
    return outcomeOf(session, each, answer);
  });
}

/** The network keeps the order when its answer has all of them. */
function sameOrder(
  answers: readonly MemberAnswer[],
  named: readonly NamedContact[],
  index: number,
): MemberAnswer | undefined {
  return answers.length === named.length ? answers[index] : undefined;
}

function isAbout({ id, lid }: NamedContact, answer: MemberAnswer): boolean {
  return [answer.jid, answer.phoneNumber, answer.lid].some((address) => {
    const read = readJid(address);
    if (!read) return false;
    return read.server === 'lid' ? read.user === lid || `${read.user}@lid` === id : read.user === id;
  });
}

function outcomeOf(session: OpenSession, named: NamedContact, answer: MemberAnswer | undefined): Outcome {
  if (!answer) return { named, status: '', member: undefined, offer: undefined };
  const { jid, status, phoneNumber, lid, offer } = answer;
  const participant = { id: jid ?? contactJid(named.id), phoneNumber, lid };
  const people = { own: session.identity, numbers: new Map<string, string>() };
  return {
    named,
    status,
    member: memberFromNetwork(withoutAbsent(participant), people),
    offer,
  };
}

function withoutAbsent({ id, phoneNumber, lid }: { id: string; phoneNumber?: string; lid?: string }) {
  return { id, ...(phoneNumber !== undefined && { phoneNumber }), ...(lid !== undefined && { lid }) };
}

/** Stores what the network has just done; the group is queried when its new state does not follow from that. */
async function storeChange(
  session: OpenSession,
  tools: MemberTools,
  groupId: string,
  action: MemberAction,
  members: readonly (MemberRecord | undefined)[],
): Promise<void> {
  if (members.length === 0) return;
  await tools.groups.change(session, groupId, (before) => {
    const known = members.filter((member) => member !== undefined && isNamedAs(before, member));
    return known.length < members.length
      ? undefined
      : groupAfter(before, action, known as MemberRecord[], { own: session.identity });
  });
}

/** Is the address of the kind by which the group names its members? */
function isNamedAs({ facts: { addressing } }: GroupRecord, { jid }: MemberRecord): boolean {
  return (readJid(jid)?.server === 'lid') === (addressing === 'lid');
}

function changedMembers(group: GroupRecord, outcomes: readonly Outcome[]): (MemberRecord | undefined)[] {
  return outcomes
    .filter(({ status }) => status === DONE)
    .map(({ named }) => group.members.find((member) => isMember(member, named)));
}

function withNumber(member: MemberRecord, { id }: NamedContact): MemberRecord {
  return member.phone === undefined && /^\d+$/.test(id) ? { ...member, phone: id } : member;
}

/** The address by which the group names a member. */
function wireName(group: GroupRecord): (named: NamedContact) => string {
  return (named) => group.members.find((member) => isMember(member, named))?.jid ?? contactJid(named.id);
}

async function withAddresses({ network }: OpenSession, id: string): Promise<NamedContact> {
  const lid = id.endsWith('@lid') ? readJid(id)?.user : await network.people.lidOfNumber(id);
  return { id, lid };
}

function memberNamed({ identity }: OpenSession, { members }: GroupRecord, named: NamedContact): boolean {
  return members.some(
    (member) => isMember(member, named) || (named.id === identity.phone && isOwnMember(member, identity)),
  );
}

function isMember(member: MemberRecord, { id, lid }: NamedContact): boolean {
  return memberId(member) === id || (lid !== undefined && member.lid === lid);
}
