/** Groups between the network's shape and the stored one. Pure. */
import {
  memberId,
  type GroupFacts,
  type GroupRecord,
  type MemberRank,
  type MemberRecord,
  type RequestAction,
} from '@dormouse/message-store/write';
import {
  proto,
  type GroupMetadata,
  type GroupParticipant,
  type WAMessage,
  type WAMessageAddressingMode,
} from '@whiskeysockets/baileys';
import { bareJid, personContactId, readJid } from './jid.js';
import { textWithNames } from './names-in-text.js';
import { contactOf, isOwn, type People } from './people.js';
import { present, toNumber } from './present.js';

const RANKS: Record<string, MemberRank> = { superadmin: 'creator', admin: 'admin' };
const NETWORK_RANKS = { creator: 'superadmin', admin: 'admin', member: null } as const;

/** The group as the network describes it in full. */
export function groupFromNetwork(group: GroupMetadata, people: People): GroupRecord {
  const members = group.participants.map((participant) => memberFromNetwork(participant, people));
  return {
    id: bareJid(group.id),
    member: members.some((member) => isOwnMember(member, people.own)),
    members,
    facts: factsFromNetwork(group, people),
  };
}

function factsFromNetwork(group: GroupMetadata, people: People): GroupFacts {
  const person = (...jids: (string | undefined)[]) => {
    const own = jids.find((jid) => isOwn(jid, people));
    return own === undefined ? personContactId(jids, people.numbers) : people.own.phone;
  };
  return {
    name: textWithNames(group.subject ?? '', people),
    createdAt: seconds(group.creation) ?? 0,
    restricted: group.restrict ?? false,
    announcements: group.announce ?? false,
    membersMayAdd: group.memberAddMode ?? false,
    approval: group.joinApprovalMode ?? false,
    ephemeralS: group.ephemeralDuration ?? 0,
    communityAnnounce: group.isCommunityAnnounce ?? false,
    isParent: group.isCommunity ?? false,
    addressing: String(group.addressingMode) === 'pn' ? 'pn' : 'lid',
    ...present({
      nameAt: seconds(group.subjectTime),
      nameOwner: person(group.subjectOwnerPn, group.subjectOwner),
      createdBy: person(group.ownerPn, group.owner),
      description: group.desc ? textWithNames(group.desc, people) : undefined,
      descriptionId: group.desc ? group.descId : undefined,
      descriptionOwner: group.desc ? person(group.descOwnerPn, group.descOwner) : undefined,
      linkedParent: group.linkedParent,
      inviteCode: group.inviteCode,
    }),
  };
}

/** Baileys makes NaN of a time that is not there. */
function seconds(time: number | undefined): number | undefined {
  return time !== undefined && Number.isFinite(time) ? time : undefined;
}

/** A member in a description or a notice of the network. */
export function memberFromNetwork(
  { id, phoneNumber, lid, admin }: GroupParticipant,
  { own, numbers }: People,
): MemberRecord {
  const jids = [id, phoneNumber, lid].map((jid) => readJid(jid));
  const lidUser = jids.find((jid) => jid?.server === 'lid')?.user;
  const known = lidUser === undefined ? undefined : lidUser === own.lid ? own.phone : numbers.get(lidUser);
  return {
    jid: bareJid(id),
    rank: RANKS[admin ?? ''] ?? 'member',
    ...present({ phone: jids.find((jid) => jid?.server === 's.whatsapp.net')?.user ?? known, lid: lidUser }),
  };
}

/** Is this member the channel itself? */
export function isOwnMember({ jid, phone, lid }: MemberRecord, own: People['own']): boolean {
  return isOwn(jid, { own, numbers: new Map() }) || phone === own.phone || (lid !== undefined && lid === own.lid);
}

/** Are the two the same person? */
export function isSameMember(one: MemberRecord, other: MemberRecord): boolean {
  return (
    one.jid === other.jid ||
    (one.phone !== undefined && one.phone === other.phone) ||
    (one.lid !== undefined && one.lid === other.lid)
  );
}

/** The stored group as the library wants it for a send: its members and how they are addressed. */
export function groupToNetwork({ id, facts, members }: Pick<GroupRecord, 'id' | 'facts' | 'members'>): GroupMetadata {
  return {
    id,
    owner: undefined,
    subject: facts.name,
    addressingMode: facts.addressing as WAMessageAddressingMode,
    announce: facts.announcements,
    restrict: facts.restricted,
    memberAddMode: facts.membersMayAdd,
    size: members.length,
    ...(facts.descriptionId !== undefined && { desc: facts.description, descId: facts.descriptionId }),
    ...(facts.ephemeralS > 0 && { ephemeralDuration: facts.ephemeralS }),
    participants: members.map(({ jid, rank }) => ({ id: jid, admin: NETWORK_RANKS[rank] })),
  };
}

export type MemberAction = 'add' | 'remove' | 'promote' | 'demote';

/**
 * The group after members were added, removed, promoted or demoted.
 * @returns undefined when the channel itself joined: only the network knows the other members
 */
export function groupAfter(
  before: GroupRecord,
  action: MemberAction,
  concerned: readonly MemberRecord[],
  { own }: Pick<People, 'own'>,
): GroupRecord | undefined {
  const others = before.members.filter((member) => !concerned.some((one) => isSameMember(one, member)));
  const stayed = before.members.filter((member) => concerned.some((one) => isSameMember(one, member)));
  const concernsOwn = concerned.some((member) => isOwnMember(member, own));
  switch (action) {
    case 'add': {
      if (concernsOwn && !before.member) return undefined;
      const fresh = concerned.filter((one) => !stayed.some((member) => isSameMember(one, member)));
      const joined = concerned.reduce((group, one) => requestAfter(group, memberId(one), undefined), before);
      return { ...joined, members: [...before.members, ...fresh] };
    }
    case 'remove':
      return { ...before, member: before.member && !concernsOwn, members: others };
    case 'promote':
    case 'demote': {
      const rank: MemberRank = action === 'promote' ? 'admin' : 'member';
      const isConcerned = (member: MemberRecord) => concerned.some((one) => isSameMember(one, member));
      const members = before.members.map((member) =>
        isConcerned(member) && !(rank === 'admin' && member.rank === 'creator') ? { ...member, rank } : member,
      );
      return { ...before, members };
    }
  }
}

const REQUEST_ACTIONS = { created: 'request', revoked: 'revoke_request', rejected: 'rejected_request' } as const;

/** How many requests to join are stored with a group; a repeated step of a stored one is not reported again. */
const MAX_REQUESTS = 200;

/** The action for a step of a request to join, as the network names it. */
export function requestAction(action: keyof typeof REQUEST_ACTIONS): RequestAction {
  return REQUEST_ACTIONS[action];
}

/**
 * The group after a step of a request to join.
 * @param requester contact id
 * @param action undefined: the requester was admitted
 */
export function requestAfter(before: GroupRecord, requester: string, action: RequestAction | undefined): GroupRecord {
  const { requests = [], ...facts } = before.facts;
  if (requests.some(([id, last]) => id === requester && last === action)) return before;
  const others = requests.filter(([id]) => id !== requester);
  const kept = action === undefined ? others : [...others, [requester, action] as const].slice(-MAX_REQUESTS);
  return { ...before, facts: { ...facts, ...(kept.length > 0 && { requests: kept }) } };
}

const S = proto.WebMessageInfo.StubType;
const isOn = (value: string | undefined): boolean => value === 'on' || value === 'true';

type FactsChange = (
  facts: GroupFacts,
  value: string | undefined,
  by: { person: string | undefined; atS: number },
) => void;

/** How the network's notices change the facts of a group, by the event they name. */
const NOTICES = new Map<number, FactsChange>([
  [
    S.GROUP_CHANGE_SUBJECT,
    (facts, name = '', { person, atS }) => {
      if (facts.name !== name) Object.assign(facts, { name, nameAt: atS, nameOwner: person });
    },
  ],
  [
    S.GROUP_CHANGE_DESCRIPTION,
    (facts, description, { person }) => {
      if (facts.description === (description || undefined)) return;
      delete facts.description;
      delete facts.descriptionId; // the notice does not have it
      delete facts.descriptionOwner;
      if (description) Object.assign(facts, { description, descriptionOwner: person });
    },
  ],
  [S.GROUP_CHANGE_ANNOUNCE, (facts, value) => void (facts.announcements = isOn(value))],
  [S.GROUP_CHANGE_RESTRICT, (facts, value) => void (facts.restricted = isOn(value))],
  [S.GROUP_MEMBER_ADD_MODE, (facts, value) => void (facts.membersMayAdd = value === 'all_member_add')],
  [S.GROUP_MEMBERSHIP_JOIN_APPROVAL_MODE, (facts, value) => void (facts.approval = isOn(value))],
  [
    S.GROUP_CHANGE_INVITE_LINK,
    (facts, code) => {
      if (code) facts.inviteCode = code;
    },
  ],
]);

/** Applies a notice to a group. @returns undefined when the group has to be queried from the network */
export type GroupChange = (before: GroupRecord) => GroupRecord | undefined;

/**
 * The change of a group that a notice reports and the library does not.
 * @returns undefined when the message is no such notice
 */
export function groupChange(notice: WAMessage, people: People): GroupChange | undefined {
  if (notice.messageStubType === S.GROUP_PARTICIPANT_CHANGE_NUMBER) return numberChange(notice, people);
  const change = factsChange(notice, people);
  return change && ((before) => ({ ...before, facts: change(before.facts) }));
}

/**
 * A member changed numbers. The notice's author is the former address. The library (Baileys 7.0.0-rc14,
 * messages-recv.js:625) passes the new addresses as plain text and then fails to parse them as JSON
 * (process-message.js:509), so that it emits no event about participants.
 */
function numberChange({ key, messageStubParameters }: WAMessage, people: People): GroupChange {
  const [address] = Array.isArray(messageStubParameters) ? (messageStubParameters as unknown[]) : [];
  const fresh =
    typeof address === 'string' && readJid(address) ? memberFromNetwork({ id: address }, people) : undefined;
  const former = [key.participant, key.participantAlt].flatMap((jid) =>
    jid ? memberFromNetwork({ id: jid }, people) : [],
  );
  return (before) => {
    const member = before.members.find((one) => former.some((other) => isSameMember(one, other)));
    const isWhole = fresh?.phone !== undefined && (before.facts.addressing === 'pn') === (fresh.lid === undefined);
    if (!member || !isWhole) return undefined;
    const others = before.members.filter((one) => one !== member && !isSameMember(one, fresh));
    return { ...before, members: [...others, { ...fresh, rank: member.rank }] };
  };
}

/**
 * The change of a group's facts that a notice reports.
 * @returns undefined when the message is no such notice
 */
function factsChange(notice: WAMessage, people: People): ((before: GroupFacts) => GroupFacts) | undefined {
  const change = typeof notice.messageStubType === 'number' ? NOTICES.get(notice.messageStubType) : undefined;
  if (!change) return undefined;
  const parameters: unknown = notice.messageStubParameters;
  const [value] = Array.isArray(parameters) ? (parameters as unknown[]) : [];
  const { participant, participantAlt } = notice.key;
  const by = {
    person: contactOf(participantAlt, people) ?? contactOf(participant, people),
    atS: toNumber(notice.messageTimestamp) ?? 0,
  };
  return (before) => {
    const after = { ...before };
    change(after, typeof value === 'string' ? textWithNames(value, people) : undefined, by);
    return after;
  };
}
