import { unlink } from '../linking/pairing.js';
import { child } from '../wire/node.js';
import type { IqHandler } from './query-handler.js';

/** A device unlinks itself, or another one of its account. */
export const linkedDevices: IqHandler = ({ network, device }, iq) => {
  const removal = child(iq, 'remove-companion-device');
  if (!removal) return undefined;
  const target = network.accounts.findDevice(removal.attrs['jid'] ?? '');
  if (target && target.account === device.account) setImmediate(() => unlink(network, target));
  return undefined;
};
