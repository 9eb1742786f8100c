/** A group as the network describes it, and what of it customers see. Pure. */
import type { EventPayloads, Group, Participant } from '@dormouse/gateway-contract';

export type MemberRank = Participant['rank'];

/** A member of a group under the network's addresses. */
export interface MemberRecord {
  /** The address by which the group itself names the member, as on the wire. */
  jid: string;
  /** Digits of the number, as far as known. */
  phone?: string;
  /** User part of the LID, as far as known. */
  lid?: string;
  rank: MemberRank;
}

/** What is known of a group beside its members. Times are epoch seconds, people are contact ids. */
export interface GroupFacts {
  name: string;
  nameAt?: number;
  nameOwner?: string;
  createdAt: number;
  createdBy?: string;
  description?: string;
  descriptionId?: string;
  descriptionOwner?: string;
  /** Only admins change name, picture and description. */
  restricted: boolean;
  /** Only admins send. */
  announcements: boolean;
  /** Members may add others. */
  membersMayAdd: boolean;
  /** Who joins by the link waits for an admin. */
  approval: boolean;
  /** Seconds until messages disappear; 0 = never. */
  ephemeralS: number;
  communityAnnounce: boolean;
  /** A community itself. */
  isParent: boolean;
  /** The community it belongs to. */
  linkedParent?: string;
  /** By which kind of address the group names its members. */
  addressing: 'lid' | 'pn';
  /** Code of its invite link, while it is known. */
  inviteCode?: string;
  /** What became last of the requests to join, by the contact id of who requested, the latest last; who is let in goes. */
  requests?: readonly JoinRequest[];
}

/** Asked to join, took that back, was refused. */
export type RequestAction = Extract<
  EventPayloads['groups.put']['groups_participants'][number]['action'],
  'request' | 'revoke_request' | 'rejected_request'
>;

/** Contact id of who requested, and what became of it. */
export type JoinRequest = readonly [id: string, action: RequestAction];

/** A group to be stored. */
export interface GroupRecord {
  /** Chat id. */
  id: string;
  /** Is the channel in it? */
  member: boolean;
  facts: GroupFacts;
  members: readonly MemberRecord[];
}

/** A group from the store. */
export interface StoredGroup extends GroupRecord {
  /** Something happened to it that could not be applied: query the network. */
  stale: boolean;
  version: number;
}

/** LIDs whose numbers became known elsewhere: user part of the LID to digits. */
export type LaterNumbers = ReadonlyMap<string, string>;

/** A member as a contact id: the number wherever it is known. */
export function memberId({ jid, phone, lid }: MemberRecord, later?: LaterNumbers): string {
  const number = phone ?? (lid === undefined ? undefined : later?.get(lid));
  if (number !== undefined) return number;
  return lid === undefined ? (jid.split('@')[0] ?? jid) : `${lid}@lid`;
}

export function toParticipants(members: readonly MemberRecord[], later?: LaterNumbers): Participant[] {
  return members.map((member) => ({ id: memberId(member, later), rank: member.rank }));
}

/** The part of a group that customers see and that can change, members apart. */
export function shownFacts(facts: GroupFacts): Omit<Group, 'id' | 'type' | 'timestamp' | keyof MembersShown> {
  return {
    name: facts.name,
    created_at: facts.createdAt,
    ...present({
      created_by: facts.createdBy,
      name_at: facts.nameAt,
      name_owner: facts.nameOwner,
      description: facts.description,
      description_owner: facts.descriptionOwner,
      description_id: facts.descriptionId,
      linkedParent: facts.linkedParent,
      invite_code: facts.inviteCode,
    }),
    restricted: facts.restricted,
    announcements: facts.announcements,
    adminAddMemberMode: facts.membersMayAdd,
    ephemeral: facts.ephemeralS,
    isCommunityAnnounce: facts.communityAnnounce,
    ...(facts.isParent && { is_parent: true }),
  };
}

interface MembersShown {
  participants: unknown;
  participants_count: unknown;
}

/** A group without the facts of its chat. */
export function shownGroup(
  { id, facts, members }: Pick<GroupRecord, 'id' | 'facts' | 'members'>,
  later?: LaterNumbers,
): Group {
  return {
    id,
    type: 'group',
    timestamp: facts.createdAt,
    ...shownFacts(facts),
    participants: toParticipants(members, later),
    participants_count: members.length,
  };
}

type GroupEvent =
  | { type: 'groups'; method: 'post'; payload: EventPayloads['groups.post'] }
  | { type: 'groups'; method: 'put'; payload: EventPayloads['groups.put'] }
  | { type: 'groups'; method: 'patch'; payload: EventPayloads['groups.patch'] };

/**
 * The events for customers when a group has become another: it is new to the channel, its members or its facts changed.
 * @param before undefined for a group that was not known
 */
export function groupEvents(before: GroupRecord | undefined, after: GroupRecord): GroupEvent[] {
  if (!before?.member) {
    return after.member ? [{ type: 'groups', method: 'post', payload: { groups: [shownGroup(after)] } }] : [];
  }
  return [...memberEvents(before, after), ...requestEvents(before, after), ...factEvents(before, after)];
}

function memberEvents(before: GroupRecord, after: GroupRecord): GroupEvent[] {
  const old = byId(before.members);
  const young = byId(after.members);
  const stayed = [...young].flatMap(([id, rank]) => {
    const was = old.get(id);
    return was === undefined || was === rank ? [] : [{ id, rose: was === 'member', fell: rank === 'member' }];
  });
  const affected = {
    add: [...young.keys()].filter((id) => !old.has(id)),
    remove: [...old.keys()].filter((id) => !young.has(id)),
    promote: stayed.filter(({ rose }) => rose).map(({ id }) => id),
    demote: stayed.filter(({ fell }) => fell).map(({ id }) => id),
  };
  return (['add', 'remove', 'promote', 'demote'] as const).flatMap((action): GroupEvent[] =>
    affected[action].length === 0
      ? []
      : [
          {
            type: 'groups',
            method: 'put',
            payload: { groups_participants: [{ group_id: after.id, participants: affected[action], action }] },
          },
        ],
  );
}

/** Each step of a request makes one event, however often the network brings it; who is let in is an added member. */
function requestEvents(before: GroupRecord, after: GroupRecord): GroupEvent[] {
  const was = new Map(before.facts.requests);
  const steps = (after.facts.requests ?? []).filter(([id, action]) => was.get(id) !== action);
  return steps.map(([id, action]) => ({
    type: 'groups',
    method: 'put',
    payload: { groups_participants: [{ group_id: after.id, participants: [id], action }] },
  }));
}

function byId(members: readonly MemberRecord[]): Map<string, MemberRank> {
  return new Map(members.map((member) => [memberId(member), member.rank]));
}

function factEvents(before: GroupRecord, after: GroupRecord): GroupEvent[] {
  const [old, young] = [shownFacts(before.facts), shownFacts(after.facts)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(young)])] as (keyof typeof old)[];
  const changes = names.filter((name) => old[name] !== young[name]);
  if (changes.length === 0) return [];
  const part = (facts: typeof old) => ({
    id: after.id,
    name: facts.name,
    ...Object.fromEntries(changes.flatMap((name) => (facts[name] === undefined ? [] : [[name, facts[name]]]))),
  });
  const update = { before_update: part(old), after_update: part(young), changes };
  return [{ type: 'groups', method: 'patch', payload: { groups_updates: [update] } }];
}

function present<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> };
}
