import { SERVER } from '../wire/jid.js';
import { node } from '../wire/node.js';
import type { Device } from './account.js';
import type { Network } from './network.js';
import type { OneTimePreKey } from './pre-keys.js';

/** Below this many one-time keys more are requested of the device. */
const LOW_PRE_KEYS = 5;

/** Hands out a one-time key of a device and requests more of the device when they run low. */
export function takePreKey(network: Network, device: Device): OneTimePreKey | undefined {
  const oneTime = device.preKeys.take();
  device.account.changed();
  if (device.preKeys.count === LOW_PRE_KEYS - 1) {
    device.deliver(
      node('notification', { type: 'encrypt', from: SERVER, id: network.stanzaId(), t: network.timestamp() }, [
        node('count', { value: String(device.preKeys.count) }),
      ]),
    );
  }
  return oneTime;
}
