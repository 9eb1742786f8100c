import type { Account } from '../network/account.js';
import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';
import { node, type Node } from '../wire/node.js';
import type { Group, GroupRole } from '../network/group.js';
import { groupNode, notifyGroup, notifyNewMembers, participantNode } from './group-nodes.js';

/** What became of one person that was to be added, removed or given a role. */
export interface Outcome {
  jid: string;
  account?: Account;
  /** 403 refused by their privacy (an invitation is offered), 404 unknown, 409 already so. */
  error?: 403 | 404 | 409;
  invitation?: { code: string; until: number };
}

export const MAX_MEMBERS = 1024;

/** Makes a group. People whose privacy refuses are left out and reported. */
export function createGroup(
  network: Network,
  creator: Account,
  subject: string,
  jids: string[],
  addressing: 'lid' | 'pn' = 'lid',
): { group: Group; outcomes: Outcome[] } {
  const group = network.groups.create(creator.lid, subject, network.now());
  group.state.addressing = addressing;
  const outcomes = jids.map((jid) => admit(network, group, creator, jid));
  group.changed();
  notifyGroup(
    network,
    group,
    creator,
    node('create', { type: 'new', key: group.state.id }, [groupNode(network, group)]),
  );
  return { group, outcomes };
}

/** Adds people; who refuses being added gets an invitation instead. Throws {@link Refusal} 403. */
export function addMembers(network: Network, group: Group, actor: Account, jids: string[]): Outcome[] {
  if (!group.mayAdd(actor.lid)) throw new Refusal(403, 'forbidden');
  const outcomes = jids.map((jid) => admit(network, group, actor, jid));
  const added = outcomes.flatMap(({ account, error }) => (account && !error ? [account.lid] : []));
  notifyNewMembers(network, group, actor, added);
  return outcomes;
}

/** Removes people. Only admins may; the creator cannot be removed. */
export function removeMembers(network: Network, group: Group, actor: Account, jids: string[]): Outcome[] {
  requireAdmin(group, actor);
  const outcomes = jids.map((jid): Outcome => {
    const account = network.accounts.find(jid);
    if (!account || !group.has(account.lid)) return { jid, error: 404 };
    if (group.state.members[account.lid] === 'superadmin') return { jid, account, error: 403 };
    return { jid, account };
  });
  depart(network, group, actor, outcomes);
  return outcomes;
}

/** Leaves a group; when the last admin goes, another member becomes one. */
export function leaveGroup(network: Network, group: Group, actor: Account): void {
  if (!group.has(actor.lid)) throw new Refusal(404, 'item-not-found');
  depart(network, group, actor, [{ jid: actor.lidJid, account: actor }]);
  const [heir] = group.memberLids;
  if (heir !== undefined && !group.memberLids.some((lid) => group.isAdmin(lid))) {
    group.state.members[heir] = 'admin';
    group.changed();
  }
}

/** Makes members admins, or admins members again. */
export function setRole(
  network: Network,
  group: Group,
  actor: Account,
  jids: string[],
  role: Exclude<GroupRole, 'superadmin'>,
): Outcome[] {
  requireAdmin(group, actor);
  const outcomes = jids.map((jid): Outcome => {
    const account = network.accounts.find(jid);
    const present = account && group.state.members[account.lid];
    if (!account || present === undefined) return { jid, error: 404 };
    if (present === 'superadmin') return { jid, account, error: 403 };
    group.state.members[account.lid] = role;
    return { jid, account };
  });
  group.changed();
  notifyOutcome(network, group, actor, role === 'admin' ? 'promote' : 'demote', outcomes);
  return outcomes;
}

export function requireAdmin(group: Group, actor: Account): void {
  if (!group.isAdmin(actor.lid)) throw new Refusal(403, 'forbidden');
}

function admit(network: Network, group: Group, actor: Account, jid: string): Outcome {
  const account = network.accounts.find(jid);
  if (!account || network.unknown(account)) return { jid, error: 404 };
  if (group.has(account.lid)) return { jid, account, error: 409 };
  const refuses = account.state.privacy['groupadd'] === 'none' || account.state.blocked.includes(actor.lid);
  if (refuses || group.memberLids.length >= MAX_MEMBERS) {
    return {
      jid,
      account,
      error: 403,
      invitation: group.invite(account.lid, actor.lid, Math.floor(network.now() / 1000)),
    };
  }
  group.letIn(account.lid);
  return { jid, account };
}

/** Removes people and notifies everybody, those who go included. */
function depart(network: Network, group: Group, actor: Account, outcomes: Outcome[]): void {
  const going = outcomes.flatMap(({ account, error }) => (account && !error ? [account] : []));
  if (going.length === 0) return;
  const participants = going.map(({ lid }) => participantNode(network, group, lid));
  const audience = group.memberLids;
  for (const { lid } of going) delete group.state.members[lid];
  group.changed();
  notifyGroup(network, group, actor, node('remove', {}, participants), audience);
}

function notifyOutcome(network: Network, group: Group, actor: Account, tag: string, outcomes: Outcome[]): void {
  const participants = outcomes.flatMap(({ account, error }): Node[] =>
    account && !error ? [participantNode(network, group, account.lid)] : [],
  );
  if (participants.length > 0) notifyGroup(network, group, actor, node(tag, {}, participants));
}
