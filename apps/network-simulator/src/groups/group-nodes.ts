import type { Account } from '../network/account.js';
import type { Network } from '../network/network.js';
import { LID_SERVER, PHONE_SERVER } from '../wire/jid.js';
import { node, type Node } from '../wire/node.js';
import type { Group } from '../network/group.js';

/** A member's address in the group's naming, and the other one where it is shown. */
export function memberNames(network: Network, group: Group, lid: string): { jid: string; other: string | undefined } {
  const account = network.accounts.find(`${lid}@${LID_SERVER}`);
  const server = group.state.addressing === 'lid' ? LID_SERVER : PHONE_SERVER;
  return { jid: account?.jidLike(server) ?? `${lid}@${LID_SERVER}`, other: account?.otherName(server) };
}

/** One member as metadata and notices show it; `error` for members that could not be added. */
export function participantNode(
  network: Network,
  group: Group,
  lid: string,
  extra: Record<string, string | undefined> = {},
  content?: Node[],
): Node {
  const role = group.state.members[lid];
  return namedNode(
    'participant',
    network,
    group,
    lid,
    { type: role === 'member' ? undefined : role, ...extra },
    content,
  );
}

/** A person under both names, in the group's naming. */
export function namedNode(
  tag: string,
  network: Network,
  group: Group,
  lid: string,
  extra: Record<string, string | undefined> = {},
  content?: Node[],
): Node {
  const { jid, other } = memberNames(network, group, lid);
  const alternative = group.state.addressing === 'lid' ? { phone_number: other } : { lid: other };
  return node(tag, { jid, ...alternative, ...extra }, content);
}

/** The metadata of a group. */
export function groupNode(network: Network, group: Group, extraParticipants: Node[] = []): Node {
  const { state } = group;
  const owner = memberNames(network, group, state.creator);
  const subjectBy = memberNames(network, group, state.subject.by);
  const byLid = state.addressing === 'lid';
  const content = [...group.memberLids.map((lid) => participantNode(network, group, lid)), ...extraParticipants];
  if (state.description) {
    const by = memberNames(network, group, state.description.by);
    const attrs = { id: state.description.id, participant: by.jid, t: String(state.description.at) };
    content.push(
      node('description', byLid ? { ...attrs, participant_pn: by.other } : attrs, [
        node('body', {}, Buffer.from(state.description.text)),
      ]),
    );
  }
  if (state.announcement) content.push(node('announcement'));
  if (state.locked) content.push(node('locked'));
  content.push(node('member_add_mode', {}, Buffer.from(state.addMode)));
  if (state.ephemeralSeconds > 0) content.push(node('ephemeral', { expiration: String(state.ephemeralSeconds) }));
  if (state.approval) content.push(node('membership_approval_mode', {}, [node('group_join', { state: 'on' })]));
  return node(
    'group',
    {
      id: state.id,
      subject: state.subject.text,
      s_t: String(state.subject.at),
      s_o: subjectBy.jid,
      s_o_pn: byLid ? subjectBy.other : undefined,
      creation: String(state.createdAt),
      creator: owner.jid,
      creator_pn: byLid ? owner.other : undefined,
      addressing_mode: state.addressing,
      size: String(group.memberLids.length),
    },
    content,
  );
}

/**
 * Somebody has just become a member. The newcomer gets the whole group, as the creator of one does but without `type="new"`
 * (whatsmeow, types/events: JoinedGroup), and never the `add` that the others get.
 * @param reason `invite` for those who came by a link
 */
export function notifyNewMembers(
  network: Network,
  group: Group,
  actor: Account,
  lids: string[],
  reason?: string,
): void {
  if (lids.length === 0) return;
  const before = group.memberLids.filter((lid) => !lids.includes(lid));
  const participants = lids.map((lid) => participantNode(network, group, lid));
  notifyGroup(network, group, actor, node('add', { reason }, participants), before);
  const create = node('create', { reason }, [groupNode(network, group)]);
  notifyGroup(network, group, actor, create, lids);
}

/** Notifies all devices of these people (members, when absent) of what somebody did in the group. */
export function notifyGroup(
  network: Network,
  group: Group,
  actor: Account,
  what: Node,
  to = group.memberLids,
  type = 'w:gp2',
): void {
  const { jid, other } = memberNames(network, group, actor.lid);
  const byLid = group.state.addressing === 'lid';
  const notice = node(
    'notification',
    {
      type,
      from: group.jid,
      id: network.stanzaId(),
      t: network.timestamp(),
      participant: jid,
      [byLid ? 'participant_pn' : 'participant_lid']: other,
      addressing_mode: group.state.addressing,
      notify: actor.name,
    },
    [what],
  );
  for (const lid of to) {
    const account = network.accounts.find(`${lid}@${LID_SERVER}`);
    if (account) network.deliverToAll(account, notice);
  }
}
