import { createHash } from 'node:crypto';
import type { Account, Device } from '../network/account.js';
import type { Network } from '../network/network.js';
import { node, type Node } from '../wire/node.js';

/** Stands for whom this account has blocked; clients compare it and nothing else. */
export function blocklistHash({ state }: Account): string {
  return createHash('sha256')
    .update([...state.blocked].sort().join())
    .digest('hex')
    .slice(0, 16);
}

/** Blocks or unblocks somebody. @param by the device that did it, which is not notified; absent: the phone */
export function setBlocked(network: Network, account: Account, other: Account, blocked: boolean, by?: Device): void {
  const { state } = account;
  const before = blocklistHash(account);
  state.blocked = state.blocked.filter((lid) => lid !== other.lid);
  if (blocked) state.blocked.push(other.lid);
  account.changed();
  const item = node('item', { jid: other.lidJid, action: blocked ? 'block' : 'unblock' });
  const hashes = { dhash: blocklistHash(account), prev_dhash: before };
  notifyOwnDevices(network, account, node('blocklist', hashes, [item]), by);
}

/** Changes privacy settings. @param by the device that did it, which is not notified; absent: the phone */
export function setPrivacy(network: Network, account: Account, changes: Record<string, string>, by?: Device): void {
  Object.assign(account.state.privacy, changes);
  account.changed();
  const categories = Object.entries(changes).map(([name, value]) => node('category', { name, value }));
  notifyOwnDevices(network, account, node('privacy', {}, categories), by);
}

/** Changes the text about oneself; own devices are notified, and those of others that know one and may see it. */
export function setAbout(network: Network, account: Account, text: string): void {
  account.state.about = { text, setAtMs: network.now() };
  account.changed();
  const attrs = { type: 'status', from: account.phoneJid, id: network.stanzaId(), t: network.timestamp() };
  const others = account.state.privacy['status'] === 'none' ? [] : account.takeDeviceListSubscribers(network.now());
  for (const device of new Set([...others, ...account.devices.values()])) {
    device.deliver(node('notification', attrs, [node('set', {}, Buffer.from(text))]));
  }
}

function notifyOwnDevices(network: Network, account: Account, change: Node, by: Device | undefined): void {
  const attrs = { type: 'account_sync', from: account.phoneJid, id: network.stanzaId(), t: network.timestamp() };
  for (const device of account.devices.values()) {
    if (device !== by) device.deliver(node('notification', attrs, [change]));
  }
}
