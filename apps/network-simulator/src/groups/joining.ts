import type { Account } from '../network/account.js';
import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';
import { node } from '../wire/node.js';
import type { Group } from '../network/group.js';
import { MAX_MEMBERS, requireAdmin, type Outcome } from './group-members.js';
import { namedNode, notifyGroup, notifyNewMembers } from './group-nodes.js';

/**
 * Joins by the group's link, or requests to join where admins approve: then the person is not a member of the group that is returned.
 * Throws {@link Refusal} 404 (no such link), 409 (member already), 419 (full).
 */
export function joinByCode(network: Network, actor: Account, code: string): Group {
  const group = network.groups.byInviteCode(code);
  if (!group) throw new Refusal(404, 'item-not-found');
  if (group.has(actor.lid)) throw new Refusal(409, 'conflict');
  if (group.state.approval) askToJoin(network, group, actor);
  else enter(network, group, actor, actor, 'invite');
  return group;
}

/** Accepts an invitation made for this person. */
export function acceptInvitation(network: Network, group: Group, actor: Account, code: string): void {
  const invitation = group.state.invitations[code];
  if (!invitation || invitation.lid !== actor.lid) throw new Refusal(404, 'item-not-found');
  if (invitation.until * 1000 < network.now()) throw new Refusal(410, 'gone');
  delete group.state.invitations[code];
  enter(network, group, actor, actor, 'invite');
}

/** An admin approves or rejects requests to join. Throws {@link Refusal} 403 to who is none. */
export function decideRequests(
  network: Network,
  group: Group,
  actor: Account,
  jids: string[],
  admitted: boolean,
): Outcome[] {
  requireAdmin(group, actor);
  return jids.map((jid): Outcome => {
    const account = network.accounts.find(jid);
    if (!account || !group.state.waiting.some(({ lid }) => lid === account.lid)) return { jid, error: 404 };
    if (admitted) {
      enter(network, group, actor, account, 'linked_group_join');
    } else {
      group.withdrawRequest(account.lid);
      notifyRevoked(network, group, actor, account);
    }
    return { jid, account };
  });
}

/** Withdraws one's own request to join. Throws {@link Refusal} 404 when there is none. */
export function withdrawRequest(network: Network, group: Group, actor: Account): void {
  if (!group.withdrawRequest(actor.lid)) throw new Refusal(404, 'item-not-found');
  notifyRevoked(network, group, actor, actor);
}

/** A repeated request changes nothing: the admins are notified of the first. */
function askToJoin(network: Network, group: Group, actor: Account): void {
  if (!group.requestToJoin(actor.lid, Math.floor(network.now() / 1000))) return;
  const asking = namedNode('requested_user', network, group, actor.lid);
  const what = node('created_membership_requests', { request_method: 'invite_link' }, [asking]);
  notifyGroup(network, group, actor, what, group.adminLids);
}

/** The one who rejected the request, or withdrew it, is the acting person of the notification. */
function notifyRevoked(network: Network, group: Group, actor: Account, asking: Account): void {
  const what = node('revoked_membership_requests', {}, [namedNode('participant', network, group, asking.lid)]);
  notifyGroup(network, group, actor, what, group.adminLids);
}

function enter(network: Network, group: Group, actor: Account, joining: Account, reason: string): void {
  if (group.memberLids.length >= MAX_MEMBERS) throw new Refusal(419, 'resource-limit');
  group.letIn(joining.lid);
  notifyNewMembers(network, group, actor, [joining.lid], reason);
}
