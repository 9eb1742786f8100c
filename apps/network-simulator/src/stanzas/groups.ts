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
import { notSimulated, Refusal } from '../network/refusal.js';
import { child, children, node, type Node } from '../wire/node.js';
import type { QueryContext, IqHandler } from './query-handler.js';

type GroupQuery = (context: QueryContext, group: Group, request: Node) => Node[] | undefined;
type GroupsQuery = (context: QueryContext, request: Node, iq: Node) => Node[] | undefined;

/** Queries to a group's own address, by tag. */
const toGroup: Record<string, GroupQuery> = {
  query: ({ network, device }, group) => {
    requireMember(group, device.account.lid);
    return [groupNode(network, group)];
  },
  add: (context, group, request) =>
    outcomes(context, group, request, addMembers(context.network, group, context.device.account, named(request))),
  remove: (context, group, request) =>
    outcomes(context, group, request, removeMembers(context.network, group, context.device.account, named(request))),
  promote: (context, group, request) =>
    outcomes(context, group, request, setRole(context.network, group, context.device.account, named(request), 'admin')),
  demote: (context, group, request) =>
    outcomes(
      context,
      group,
      request,
      setRole(context.network, group, context.device.account, named(request), 'member'),
    ),
  accept: ({ network, device }, group, request) => {
    acceptInvitation(network, group, device.account, request.attrs['code'] ?? '');
    return undefined;
  },
  revoke: ({ network, device }, group, request) => {
    requireAdmin(group, device.account);
    const lids = named(request).map((jid) => network.accounts.find(jid)?.lid);
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
  membership_requests_action: (context, group, request) => {
    const action = child(request);
    if (!action) return undefined;
    const { network, device } = context;
    const decided = decideRequests(network, group, device.account, named(action), action.tag === 'approve');
    return [node('membership_requests_action', {}, outcomes(context, group, action, decided))];
  },
  cancel_membership_requests: ({ network, device }, group) => {
    withdrawRequest(network, group, device.account);
    const { jid } = memberNames(network, group, device.account.lid);
    return [node('cancel_membership_requests', {}, [node('participant', { jid })])];
  },
};

/** Queries to the groups as a whole (`@g.us`), by tag. */
const toAll: Record<string, GroupsQuery> = {
  create: ({ network, device }, request) => {
    // Communities are groups that have a parent, or are one.
    if (child(request, 'parent') ?? child(request, 'linked_parent')) throw notSimulated();
    const { group, outcomes: became } = createGroup(
      network,
      device.account,
      request.attrs['subject'] ?? '',
      named(request),
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
  leave: ({ network, device }, request) => {
    for (const { attrs } of children(request, 'group')) {
      leaveGroup(network, groupAt({ network }, attrs['id'] ?? ''), device.account);
    }
    return [request];
  },
  invite: ({ network, device }, request, iq) => {
    const code = request.attrs['code'] ?? '';
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
export const groups: IqHandler = (context, iq) => {
  const request = child(iq);
  if (!request) return undefined;
  const to = iq.attrs['to'] ?? '';
  context.network.limits.countGroupQuery(context.device.account);
  if (to === '@g.us' || to === 'g.us') return (toAll[request.tag] ?? refuse)(context, request, iq);
  const group = groupAt(context, to);
  if (request.tag === 'invite') {
    requireAdmin(group, context.device.account);
    const revoked = iq.attrs['type'] === 'set';
    const code = revoked ? revokeInviteCode(context.network, group, context.device.account) : group.state.inviteCode;
    return [node('invite', { code })];
  }
  if (groupSettings[request.tag]) {
    changeGroup(context.network, group, context.device.account, request);
    return undefined;
  }
  return (toGroup[request.tag] ?? refuse)(context, group, request);
};

function refuse(): never {
  throw notSimulated();
}

function groupAt({ network }: Pick<QueryContext, 'network'>, jid: string): Group {
  const group = network.groups.find(jid);
  if (!group) throw new Refusal(404, 'item-not-found');
  return group;
}

function requireMember(group: Group, lid: string): void {
  if (!group.has(lid)) throw new Refusal(403, 'forbidden');
}

const named = (request: Node): string[] => children(request, 'participant').map(({ attrs }) => attrs['jid'] ?? '');

function outcomes({ network }: QueryContext, group: Group, request: Node, became: Outcome[]): Node[] {
  return [
    node(
      request.tag,
      {},
      became.map((outcome) => outcomeNode(network, group, outcome)),
    ),
  ];
}

function outcomeNode(
  network: QueryContext['network'],
  group: Group,
  { jid, account, error, invitation }: Outcome,
): Node {
  const code = error === undefined ? undefined : String(error);
  const content = invitation && [node('add_request', { code: invitation.code, expiration: String(invitation.until) })];
  if (!account) return node('participant', { jid, error: code }, content);
  return participantNode(network, group, account.lid, { error: code }, content);
}
