import { blocklistHash, setBlocked } from '../delivery/own-settings.js';
import { child, node } from '../wire/node.js';
import type { IqHandler } from './query-handler.js';

/** Whom this account has blocked. */
export const blocklist: IqHandler = ({ network, device }, iq) => {
  const { state } = device.account;
  const item = child(iq, 'item');
  const other = item && network.accounts.find(item.attrs['pn_jid'] ?? item.attrs['jid'] ?? '');
  if (item && other) setBlocked(network, device.account, other, item.attrs['action'] === 'block', device);
  return [
    node(
      'list',
      { dhash: blocklistHash(device.account) },
      state.blocked.map((lid) => node('item', { jid: `${lid}@lid` })),
    ),
  ];
};
