import type { Account } from './account.js';
import type { Device } from './account.js';
import type { Network } from './network.js';
import { SERVER } from '../wire/jid.js';
import { node } from '../wire/node.js';

/**
 * The account's devices (but the one that changed it) are notified that a collection moved on, and fetch it. A device that
 * has not been sent the key of shared state yet is not: it fetches everything at its first login.
 */
export function announceSharedState(
  network: Network,
  account: Account,
  name: string,
  version: number,
  except?: Device,
): void {
  const attrs = { type: 'server_sync', from: SERVER, id: network.stanzaId(), t: network.timestamp() };
  for (const device of account.devices.values()) {
    if (device === except || !device.state.bootstrapped) continue;
    device.deliver(node('notification', attrs, [node('collection', { name, version: String(version) })]));
  }
}
