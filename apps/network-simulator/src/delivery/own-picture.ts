import type { Account } from '../network/account.js';
import type { Network } from '../network/network.js';
import { storePicture } from '../network/picture.js';
import { node } from '../wire/node.js';

/** Sets or removes (without bytes) one's own picture, and notifies those who know one. Returns the new picture's id. */
export function setOwnPicture(network: Network, account: Account, bytes: Buffer | undefined): string | undefined {
  const picture = bytes && storePicture(network.media, bytes, network.now());
  if (picture) account.state.picture = picture;
  else delete account.state.picture;
  account.changed();
  const whose = { jid: account.phoneJid, author: account.phoneJid };
  const change = picture ? node('set', { ...whose, id: picture.id }) : node('delete', whose);
  const attrs = { type: 'picture', from: account.phoneJid, id: network.stanzaId(), t: network.timestamp() };
  const audience = new Set([...account.takeDeviceListSubscribers(network.now()), ...account.devices.values()]);
  for (const device of audience) device.deliver(node('notification', attrs, [change]));
  return picture?.id;
}
