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
export const privacy: IqHandler = ({ device }, iq) => {
  if (child(iq, 'tokens')) return [node('tokens')];
  const { state } = device.account;
  const request = child(iq, 'privacy');
  const changes = children(request, 'category');
  for (const { attrs } of changes) {
    if (attrs['name'] !== undefined && attrs['value'] !== undefined) state.privacy[attrs['name']] = attrs['value'];
  }
  if (changes.length > 0) device.account.changed();
  const current = { ...DEFAULTS, ...state.privacy };
  return [
    node(
      'privacy',
      {},
      Object.entries(current).map(([name, value]) => node('category', { name, value })),
    ),
  ];
};
