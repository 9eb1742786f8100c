import { node } from '../wire/node.js';
import type { Account } from './account.js';
import type { Device } from './account.js';
import type { Network } from './network.js';

/** Notifies everybody who trusts a list of this account's devices that it changed; without it they miss a new device. */
export function announceDevices(network: Network, account: Account, change: 'add' | 'remove', changed: Device): void {
  const keyIndex = String(changed.state.keyIndex);
  const subscribers = new Set(account.takeDeviceListSubscribers(network.now()));
  for (const sibling of account.devices.values()) subscribers.add(sibling);
  subscribers.delete(changed);
  for (const subscriber of subscribers) {
    subscriber.deliver(
      node(
        'notification',
        { type: 'devices', from: account.phoneJid, id: network.stanzaId(), t: network.timestamp() },
        [
          node(change, { device_hash: `2:${keyIndex}` }, [
            node('device', { jid: account.jidLike('s.whatsapp.net', changed.id), 'key-index': keyIndex }),
            node('device', { jid: account.jidLike('lid', changed.id), 'key-index': keyIndex }),
          ]),
        ],
      ),
    );
  }
}
