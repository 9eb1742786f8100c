import { setPrivacy } from '../delivery/own-settings.js';
import { child, children, node } from '../wire/node.js';
import type { IqHandler } from './query-handler.js';

/** Every setting and what a new account has. */
const DEFAULTS: Record<string, string> = {
  readreceipts: 'all',
  last: 'all',
  online: 'all',
  profile: 'all',
  status: 'all',
  groupadd: 'all',
  calladd: 'all',
  messages: 'all',
  defense: 'off',
  stickers: 'contacts',
};

/** Privacy settings, and tokens that prove an earlier conversation (accepted, never required). */
export const privacy: IqHandler = ({ network, device }, iq) => {
  if (child(iq, 'tokens')) return [node('tokens')];
  const { state } = device.account;
  const request = child(iq, 'privacy');
  const changes: Record<string, string> = {};
  for (const { attrs } of children(request, 'category')) {
    if (attrs['name'] !== undefined && attrs['value'] !== undefined) changes[attrs['name']] = attrs['value'];
  }
  if (Object.keys(changes).length > 0) setPrivacy(network, device.account, changes, device);
  const current = { ...DEFAULTS, ...state.privacy };
  return [
    node(
      'privacy',
      {},
      Object.entries(current).map(([name, value]) => node('category', { name, value })),
    ),
  ];
};
