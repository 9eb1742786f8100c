import { GatewayError, type Group, type GroupCreateResult, type Success } from '@dormouse/gateway-contract';
import type { GroupReader } from '@dormouse/message-store/read';
import type { GroupRecord } from '@dormouse/message-store/write';
import { isOwnMember } from '../../convert/group.js';
import { contactJid } from '../../convert/jid.js';
import { noSuchGroup, type GroupStore } from '../../groups/group-store.js';
import type { OpenSession } from '../../socket/open-session.js';
import type { CommandContext, Handlers } from '../command-context.js';
import { addMembers, changeRanks, invitesFor, missingFrom, removeMembers } from './group-members.js';
import { asMember, requireAdmin } from './group-rights.js';
import type { GroupPolicy } from '../../socket/requests/group-requests.js';

/** What handlers of groups need. */
export interface GroupTools {
  readonly groups: Pick<GroupStore, 'read' | 'refresh' | 'change'>;
  readonly groupReader: Pick<GroupReader, 'group'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

type GroupCommands =
  | 'groups.create'
  | 'groups.refresh'
  | 'groups.updateInfo'
  | 'groups.updateSetting'
  | 'groups.leave'
  | 'groups.addParticipants'
  | 'groups.removeParticipants'
  | 'groups.promote'
  | 'groups.demote';

const DONE: Success = { success: true };

/** Commands on groups. One that is unknown, or that the channel is not in, is 404; missing rights are 403. */
export function groupHandlers(tools: GroupTools): Pick<Handlers, GroupCommands> {
  const { groups } = tools;
  return {
    'groups.create': (context, { subject, participants }) => create(context, tools, subject, participants),
    'groups.refresh': async (context, { groupId }) => {
      await groups.refresh(context.session(), groupId);
      return shown(context, tools, groupId);
    },
    'groups.updateInfo': async (context, { groupId, subject, description }) => {
      const session = context.session();
      const before = await groups.read(session, groupId);
      if (before.facts.restricted) requireAdmin(session, before);
      const nowS = Math.floor(tools.now() / 1_000);
      if (subject !== undefined && subject !== before.facts.name) {
        await asMember(session, tools, before, () => session.network.groups.setSubject(groupId, subject));
        await groups.change(session, groupId, (group) => renamed(group, subject, session.identity.phone, nowS));
      }
      if (description !== undefined && description !== (before.facts.description ?? '')) {
        await asMember(session, tools, before, () => session.network.groups.setDescription(groupId, description));
        await groups.change(session, groupId, (group) => described(group, description, session.identity.phone));
      }
      return DONE;
    },
    'groups.updateSetting': async (context, { groupId, setting, policy }) => {
      const session = context.session();
      const before = await groups.read(session, groupId);
      requireAdmin(session, before);
      const adminsOnly = policy === 'admins';
      const { network, facts } = SETTINGS[setting];
      await asMember(session, tools, before, () => session.network.groups.setPolicy(groupId, network, adminsOnly));
      await groups.change(session, groupId, (group) => ({ ...group, facts: { ...group.facts, ...facts(adminsOnly) } }));
      return DONE;
    },
    'groups.leave': async (context, { groupId }) => {
      const session = context.session();
      const before = await groups.read(session, groupId);
      await asMember(session, tools, before, () => session.network.groups.leave(groupId));
      await groups.change(session, groupId, (group) => left(group, session));
      return DONE;
    },
    'groups.addParticipants': (context, input) => addMembers(context, tools, input),
    'groups.removeParticipants': (context, input) => removeMembers(context, tools, input),
    'groups.promote': (context, input) => changeRanks(context, tools, input, 'promote'),
    'groups.demote': (context, input) => changeRanks(context, tools, input, 'demote'),
  };
}

/** A setting as the network names it, and as the stored group has it. */
const SETTINGS: Record<
  'send_messages' | 'edit_group_info' | 'approve_participants' | 'add_participants',
  { network: GroupPolicy; facts: (adminsOnly: boolean) => Partial<GroupRecord['facts']> }
> = {
  send_messages: { network: 'sending', facts: (adminsOnly) => ({ announcements: adminsOnly }) },
  edit_group_info: { network: 'editing', facts: (adminsOnly) => ({ restricted: adminsOnly }) },
  /** `anyone`: people who follow the link are members at once. */
  approve_participants: { network: 'approving', facts: (adminsOnly) => ({ approval: adminsOnly }) },
  add_participants: { network: 'adding', facts: (adminsOnly) => ({ membersMayAdd: !adminsOnly }) },
};

/** The network's answer also names people that it did not add: the members are queried afterwards. */
async function create(
  context: CommandContext,
  tools: GroupTools,
  subject: string,
  participants: readonly string[],
): Promise<GroupCreateResult> {
  const session = context.session();
  const id = await session.network.groups.create(subject, participants.map(contactJid));
  const record = await tools.groups.refresh(session, id);
  const unprocessed = await missingFrom(session, record, participants);
  const invitable = await onNetwork(session, unprocessed);
  const invites = await invitesFor(session, tools, record, invitable, new Map());
  const group = await shown(context, tools, record.id);
  return {
    id: group.id,
    group_id: group.id,
    name: group.name,
    type: 'group',
    timestamp: group.timestamp,
    participants: group.participants,
    participants_count: group.participants_count,
    ...(group.name_at !== undefined && { name_at: group.name_at }),
    created_at: group.created_at,
    created_by: group.created_by ?? session.identity.phone,
    ...(unprocessed.length > 0 && { unprocessed_participants: unprocessed }),
    ...(invites.length > 0 && { invites }),
  };
}

/** Those who can use an invitation: their number is on the network. All of them where the network does not answer. */
async function onNetwork(session: OpenSession, contacts: readonly string[]): Promise<readonly string[]> {
  const numbers = contacts.filter((id) => !id.includes('@'));
  if (numbers.length === 0) return contacts;
  const found = await session.network.people.findNumbers(numbers).catch(() => undefined);
  return found ? contacts.filter((id) => id.includes('@') || found.has(id)) : contacts;
}

async function shown({ channelId }: CommandContext, { groupReader }: GroupTools, groupId: string): Promise<Group> {
  const group = await groupReader.group(channelId, groupId);
  if (!group) throw noSuchGroup();
  return group;
}

function renamed(group: GroupRecord, name: string, by: string, nowS: number): GroupRecord {
  return { ...group, facts: { ...group.facts, name, nameAt: nowS, nameOwner: by } };
}

function described(group: GroupRecord, description: string, by: string): GroupRecord {
  const facts = { ...group.facts };
  delete facts.description;
  delete facts.descriptionId; // the network assigns a new one and does not return it
  delete facts.descriptionOwner;
  return { ...group, facts: { ...facts, ...(description !== '' && { description, descriptionOwner: by }) } };
}

function left(group: GroupRecord, { identity }: OpenSession): GroupRecord {
  return { ...group, member: false, members: group.members.filter((member) => !isOwnMember(member, identity)) };
}

/** For a code that is no invitation to any group. */
export function noSuchInvite(): GatewayError {
  return new GatewayError(404, { details: 'InviteCode: no such invitation' });
}
