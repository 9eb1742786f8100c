import type { Group } from '../groups/group.js';
import { notifyGroup } from '../groups/group-nodes.js';
import { node } from '../wire/node.js';
import type { Account } from './account.js';
import type { Network } from './network.js';
import { Refusal } from './refusal.js';

/** A picture of a person or a group: where it is on the file host. */
export interface Picture {
  id: string;
  path: string;
}

/** Sets or removes (without bytes) one's own picture, and tells who knows one. Returns the new picture's id. */
export function setOwnPicture(network: Network, account: Account, bytes: Buffer | undefined): string | undefined {
  const picture = bytes && store(network, bytes);
  if (picture) account.state.picture = picture;
  else delete account.state.picture;
  account.changed();
  const change = picture ? node('set', { id: picture.id, author: account.phoneJid }) : node('delete');
  const attrs = { type: 'picture', from: account.phoneJid, id: network.stanzaId(), t: network.timestamp() };
  const audience = new Set([...account.takeDeviceListAskers(network.now()), ...account.devices.values()]);
  for (const device of audience) device.deliver(node('notification', attrs, [change]));
  return picture?.id;
}

/** Sets or removes a group's picture. Throws {@link Refusal} 403 to who may not. */
export function setGroupPicture(
  network: Network,
  group: Group,
  actor: Account,
  bytes: Buffer | undefined,
): string | undefined {
  if (!group.mayDescribe(actor.lid)) throw new Refusal(403, 'forbidden');
  const picture = bytes && store(network, bytes);
  if (picture) group.state.picture = picture;
  else delete group.state.picture;
  group.changed();
  const author = actor.jidLike(group.state.addressing === 'lid' ? 'lid' : 's.whatsapp.net');
  const change = picture ? node('set', { id: picture.id, author }) : node('delete', { author });
  notifyGroup(network, group, actor, change, group.memberLids, 'picture');
  return picture?.id;
}

function store(network: Network, bytes: Buffer): Picture {
  return { id: String(Math.floor(network.now() / 1000)) + String(bytes.length % 1000), path: network.media.put(bytes) };
}
