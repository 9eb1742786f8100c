import { notifyGroup, participantNode } from '../groups/group-nodes.js';
import { leaveGroup } from '../groups/group-members.js';
import { unlink } from '../linking/pairing.js';
import type { Account } from '../network/account.js';
import type { Group } from '../network/group.js';
import { Refusal } from '../network/refusal.js';
import type { Phones } from '../phones/phones.js';
import { node } from '../wire/node.js';

/** Takes a number off the network: its devices are unlinked, it leaves its groups, and nobody has it any more. */
export async function removePhone(phones: Phones, account: Account): Promise<void> {
  const { network } = phones;
  for (const group of network.groups.ofMember(account.lid)) leaveGroup(network, group, account);
  await forget(phones, account);
}

/** Ends a group: its members are notified that they were removed. */
export async function removeGroup(phones: Phones, group: Group): Promise<void> {
  const { network } = phones;
  const owner = group.adminLids.map((lid) => network.accounts.find(`${lid}@lid`)).find((account) => account);
  if (owner) {
    const participants = group.memberLids.map((lid) => participantNode(network, group, lid));
    notifyGroup(network, group, owner, node('remove', {}, participants));
  }
  await network.groups.remove(group);
}

/** Removes all phones, groups, files and faults, and sets the clock right. Keys and addresses stay as they are. */
export async function resetNetwork(phones: Phones): Promise<{ phones: number; groups: number; connections: number }> {
  const { network } = phones;
  const removed = {
    phones: network.accounts.size,
    groups: [...network.groups.all()].length,
    connections: [...network.connections.all()].length,
  };
  network.connections.clear();
  await phones.clear();
  await network.clear();
  await phones.clear();
  return removed;
}

/**
 * A person goes on under another number: devices are unlinked, in groups the new number is in the place of the old one, and
 * members are notified; the phone has its chats. Throws {@link Refusal} 409 when somebody has the new number.
 */
export async function changeNumber(phones: Phones, account: Account, to: string): Promise<Account> {
  const { network } = phones;
  if (network.accounts.byNumber(to)) throw new Refusal(409, `phone: ${to} belongs to somebody already.`);
  const changed = network.accounts.add(to, account.name);
  Object.assign(changed.state, {
    about: account.state.about,
    privacy: account.state.privacy,
    picture: account.state.picture,
  });
  const [before, after] = [phones.of(account), phones.of(changed)];
  await before.idle();
  for (const { receivedSeq: _seq, ...message } of before.messages.all()) {
    after.messages.add({ ...message, ...(message.fromMe && { from: changed.phoneJid }) });
  }
  Object.assign(after.shared, before.shared);
  for (const group of network.groups.ofMember(account.lid)) {
    group.replaceMember(account.lid, changed.lid);
    notifyGroup(network, group, account, node('modify', {}, [participantNode(network, group, changed.lid)]));
  }
  await forget(phones, account);
  return changed;
}

async function forget(phones: Phones, account: Account): Promise<void> {
  const { network } = phones;
  for (const device of [...account.devices.values()]) unlink(network, device);
  await phones.remove(account);
  await network.accounts.remove(account);
}
