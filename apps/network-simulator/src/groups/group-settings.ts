import type { Account } from '../network/account.js';
import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';
import { child, node, textOf, type Node } from '../wire/node.js';
import type { Group } from '../network/group.js';
import { requireAdmin } from './group-members.js';
import { memberNames, notifyGroup } from './group-nodes.js';

type Change = (network: Network, group: Group, actor: Account, request: Node) => void;

function flag(name: 'announcement' | 'locked', value: boolean): Change {
  return (network, group, actor, request) => {
    requireAdmin(group, actor);
    group.state[name] = value;
    // Each announcement setting has an id of its own, which clients insist on.
    notifyGroup(network, group, actor, node(request.tag, name === 'announcement' ? { v_id: network.stanzaId() } : {}));
  };
}

/** What can be set in a group, by the tag of the request. Each checks who may, changes, and notifies the members. */
export const groupSettings: Record<string, Change> = {
  subject: (network, group, actor, request) => {
    requireDescriber(group, actor);
    const text = textOf(request) ?? '';
    if (text === '') throw new Refusal(406, 'not-acceptable');
    const at = Math.floor(network.now() / 1000);
    group.state.subject = { text, by: actor.lid, at };
    const { jid } = memberNames(network, group, actor.lid);
    notifyGroup(network, group, actor, node('subject', { subject: text, s_t: String(at), s_o: jid }));
  },
  description: (network, group, actor, request) => {
    requireDescriber(group, actor);
    if ((request.attrs['prev'] ?? '') !== (group.state.description?.id ?? '')) throw new Refusal(409, 'conflict');
    const text = textOf(child(request, 'body'));
    const at = Math.floor(network.now() / 1000);
    const id = request.attrs['id'] ?? network.stanzaId();
    if (text === undefined || request.attrs['delete'] === 'true') {
      delete group.state.description;
      notifyGroup(network, group, actor, node('description', { id }, [node('delete')]));
      return;
    }
    group.state.description = { id, text, by: actor.lid, at };
    notifyGroup(network, group, actor, node('description', { id }, [node('body', {}, Buffer.from(text))]));
  },
  announcement: flag('announcement', true),
  not_announcement: flag('announcement', false),
  locked: flag('locked', true),
  unlocked: flag('locked', false),
  member_add_mode: (network, group, actor, request) => {
    requireAdmin(group, actor);
    group.state.addMode = textOf(request) === 'all_member_add' ? 'all_member_add' : 'admin_add';
    notifyGroup(network, group, actor, node('member_add_mode', {}, Buffer.from(group.state.addMode)));
  },
  ephemeral: (network, group, actor, request) => {
    requireDescriber(group, actor);
    group.state.ephemeralSeconds = Number(request.attrs['expiration'] ?? 0);
    notifyGroup(network, group, actor, node('ephemeral', { expiration: String(group.state.ephemeralSeconds) }));
  },
  not_ephemeral: (network, group, actor) => {
    requireDescriber(group, actor);
    group.state.ephemeralSeconds = 0;
    notifyGroup(network, group, actor, node('not_ephemeral'));
  },
  membership_approval_mode: (network, group, actor, request) => {
    requireAdmin(group, actor);
    group.state.approval = child(request, 'group_join')?.attrs['state'] === 'on';
    const join = node('group_join', { state: group.state.approval ? 'on' : 'off' });
    notifyGroup(network, group, actor, node('membership_approval_mode', {}, [join]));
  },
};

/** Changes one setting of a group. Throws {@link Refusal} 403 to who may not. */
export function changeGroup(network: Network, group: Group, actor: Account, request: Node): void {
  groupSettings[request.tag]?.(network, group, actor, request);
  group.changed();
}

/** A new link; the old one leads nowhere. */
export function revokeInviteCode(network: Network, group: Group, actor: Account): string {
  requireAdmin(group, actor);
  const code = group.newInviteCode();
  notifyGroup(network, group, actor, node('invite', { code }));
  return code;
}

function requireDescriber(group: Group, actor: Account): void {
  if (!group.mayDescribe(actor.lid)) throw new Refusal(403, 'forbidden');
}
