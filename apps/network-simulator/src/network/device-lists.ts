import { createHash } from 'node:crypto';
import { LID_SERVER, PHONE_SERVER } from '../wire/jid.js';
import { node } from '../wire/node.js';
import type { Account } from './account.js';
import type { Device } from './account.js';
import type { Network } from './network.js';

/**
 * Stands for all devices of these people, their phones included: `2:` and the base64 of the first six bytes of the SHA-256
 * of their sorted addresses (whatsmeow, send.go: participantListHashV2).
 */
export function deviceListHash(accounts: Iterable<Account>, server: string): string {
  const addresses = [...accounts].flatMap((account) =>
    [0, ...account.devices.keys()].map((id) => {
      const user = server === LID_SERVER ? account.lid : account.phone;
      return `${user}.0:${id}@${server}`;
    }),
  );
  return `2:${createHash('sha256').update(addresses.sort().join('')).digest().subarray(0, 6).toString('base64')}`;
}

/** Notifies everybody who trusts a list of this account's devices that it changed; without it they miss a new device. */
export function announceDevices(network: Network, account: Account, change: 'add' | 'remove', changed: Device): void {
  const subscribers = new Set(account.takeDeviceListSubscribers(network.now()));
  for (const sibling of account.devices.values()) subscribers.add(sibling);
  subscribers.delete(changed);
  const hashes = {
    device_hash: deviceListHash([account], PHONE_SERVER),
    device_lid_hash: deviceListHash([account], LID_SERVER),
  };
  const device = node('device', {
    jid: account.jidLike(PHONE_SERVER, changed.id),
    lid: account.jidLike(LID_SERVER, changed.id),
    'key-index': String(changed.state.keyIndex),
  });
  for (const subscriber of subscribers) {
    const attrs = {
      type: 'devices',
      from: account.phoneJid,
      lid: account.lidJid,
      id: network.stanzaId(),
      t: network.timestamp(),
    };
    const content = [device, node('key-index-list', { ts: network.timestamp() })];
    subscriber.deliver(node('notification', attrs, [node(change, hashes, content)]));
  }
}
