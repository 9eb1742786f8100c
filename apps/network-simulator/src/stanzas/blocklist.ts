import { child, node } from '../wire/node.js';
import type { IqHandler } from './query-handler.js';

/** Whom this account has blocked. */
export const blocklist: IqHandler = ({ network, device }, iq) => {
  const { state } = device.account;
  const item = child(iq, 'item');
  const other = item && network.accounts.find(item.attrs['pn_jid'] ?? item.attrs['jid'] ?? '');
  if (item && other) {
    state.blocked = state.blocked.filter((lid) => lid !== other.lid);
    if (item.attrs['action'] === 'block') state.blocked.push(other.lid);
    device.account.changed();
  }
  return [
    node(
      'list',
      {},
      state.blocked.map((lid) => node('item', { jid: `${lid}@lid` })),
    ),
  ];
};
