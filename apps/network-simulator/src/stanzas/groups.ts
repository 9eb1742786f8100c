import type { Group } from '../network/group.js';
import {
  addMembers,
  createGroup,
  leaveGroup,
  removeMembers,
  requireAdmin,
  setRole,
  type Outcome,
} from '../groups/group-members.js';
import { groupNode, memberNames, participantNode } from '../groups/group-nodes.js';
import { changeGroup, groupSettings, revokeInviteCode } from '../groups/group-settings.js';
import { acceptInvitation, decideRequests, joinByCode, withdrawRequest } from '../groups/joining.js';
import { Refusal } from '../network/refusal.js';
import { child, children, node, type Node } from '../wire/node.js';
import type { Asker, IqHandler } from './query-handler.js';

type GroupQuestion = (asker: Asker, group: Group, asked: Node) => Node[] | undefined;
type OpenQuestion = (asker: Asker, asked: Node, iq: Node) => Node[] | undefined;

/** Questions to a group's own address, by tag. */
const toGroup: Record<string, GroupQuestion> = {
  query: ({ network, device }, group) => {
    requireMember(group, device.account.lid);
    return [groupNode(network, group)];
  },
  add: (asker, group, asked) =>
    outcomes(asker, group, asked, addMembers(asker.network, group, asker.device.account, named(asked))),
  remove: (asker, group, asked) =>
    outcomes(asker, group, asked, removeMembers(asker.network, group, asker.device.account, named(asked))),
  promote: (asker, group, asked) =>
    outcomes(asker, group, asked, setRole(asker.network, group, asker.device.account, named(asked), 'admin')),
  demote: (asker, group, asked) =>
    outcomes(asker, group, asked, setRole(asker.network, group, asker.device.account, named(asked), 'member')),
  accept: ({ network, device }, group, asked) => {
    acceptInvitation(network, group, device.account, asked.attrs['code'] ?? '');
    return undefined;
  },
  revoke: ({ network, device }, group, asked) => {
    requireAdmin(group, device.account);
    const lids = named(asked).map((jid) => network.accounts.find(jid)?.lid);
    for (const [code, { lid }] of Object.entries(group.state.invitations)) {
      if (lids.includes(lid)) delete group.state.invitations[code];
    }
    group.changed();
    return undefined;
  },
  membership_approval_requests: ({ network, device }, group) => {
    requireAdmin(group, device.account);
    const waiting = group.state.waiting.map(({ lid, at }) =>
      node('membership_approval_request', {
        jid: memberNames(network, group, lid).jid,
        request_method: 'invite_link',
        request_time: String(at),
      }),
    );
    return [node('membership_approval_requests', {}, waiting)];
  },
  membership_requests_action: (asker, group, asked) => {
    const action = child(asked);
    if (!action) return undefined;
    const { network, device } = asker;
    const decided = decideRequests(network, group, device.account, named(action), action.tag === 'approve');
    return [node('membership_requests_action', {}, outcomes(asker, group, action, decided))];
  },
  cancel_membership_requests: ({ network, device }, group) => {
    withdrawRequest(network, group, device.account);
    const { jid } = memberNames(network, group, device.account.lid);
    return [node('cancel_membership_requests', {}, [node('participant', { jid })])];
  },
};

/** Questions to the groups as a whole (`@g.us`), by tag. */
const toAll: Record<string, OpenQuestion> = {
  create: ({ network, device }, asked) => {
    const { group, outcomes: became } = createGroup(
      network,
      device.account,
      asked.attrs['subject'] ?? '',
      named(asked),
    );
    const refused = became.filter(({ error }) => error).map((outcome) => outcomeNode(network, group, outcome));
    return [groupNode(network, group, refused)];
  },
  participating: ({ network, device }) => [
    node(
      'groups',
      {},
      network.groups.ofMember(device.account.lid).map((group) => groupNode(network, group)),
    ),
  ],
  leave: ({ network, device }, asked) => {
    for (const { attrs } of children(asked, 'group')) {
      leaveGroup(network, groupAt({ network }, attrs['id'] ?? ''), device.account);
    }
    return [asked];
  },
  invite: ({ network, device }, asked, iq) => {
    const code = asked.attrs['code'] ?? '';
    if (iq.attrs['type'] === 'set') {
      const joined = joinByCode(network, device.account, code);
      return [node(joined.has(device.account.lid) ? 'group' : 'membership_approval_request', { jid: joined.jid })];
    }
    const group = network.groups.byInviteCode(code);
    if (!group) throw new Refusal(404, 'item-not-found');
    return [groupNode(network, group)];
  },
};

/** Everything about groups. */
export const groups: IqHandler = (asker, iq) => {
  const asked = child(iq);
  if (!asked) return undefined;
  const to = iq.attrs['to'] ?? '';
  asker.network.limits.groupQuestion(asker.device.account);
  if (to === '@g.us' || to === 'g.us') return toAll[asked.tag]?.(asker, asked, iq);
  const group = groupAt(asker, to);
  if (asked.tag === 'invite') {
    requireAdmin(group, asker.device.account);
    const revoked = iq.attrs['type'] === 'set';
    const code = revoked ? revokeInviteCode(asker.network, group, asker.device.account) : group.state.inviteCode;
    return [node('invite', { code })];
  }
  if (groupSettings[asked.tag]) {
    changeGroup(asker.network, group, asker.device.account, asked);
    return undefined;
  }
  return toGroup[asked.tag]?.(asker, group, asked);
};

function groupAt({ network }: Pick<Asker, 'network'>, jid: string): Group {
  const group = network.groups.find(jid);
  if (!group) throw new Refusal(404, 'item-not-found');
  return group;
}

function requireMember(group: Group, lid: string): void {
  if (!group.has(lid)) throw new Refusal(403, 'forbidden');
}

const named = (asked: Node): string[] => children(asked, 'participant').map(({ attrs }) => attrs['jid'] ?? '');

function outcomes({ network }: Asker, group: Group, asked: Node, became: Outcome[]): Node[] {
  return [
    node(
      asked.tag,
      {},
      became.map((outcome) => outcomeNode(network, group, outcome)),
    ),
  ];
}

function outcomeNode(network: Asker['network'], group: Group, { jid, account, error, invitation }: Outcome): Node {
  const code = error === undefined ? undefined : String(error);
  const content = invitation && [node('add_request', { code: invitation.code, expiration: String(invitation.until) })];
  if (!account) return node('participant', { jid, error: code }, content);
  return participantNode(network, group, account.lid, { error: code }, content);
}
