import type { Account } from '../network/account.js';
import type { Group } from '../network/group.js';
import type { Network } from '../network/network.js';
import { storePicture } from '../network/picture.js';
import { Refusal } from '../network/refusal.js';
import { node } from '../wire/node.js';
import { notifyGroup } from './group-nodes.js';

/** Sets or removes a group's picture. Throws {@link Refusal} 403 to who may not. */
export function setGroupPicture(
  network: Network,
  group: Group,
  actor: Account,
  bytes: Buffer | undefined,
): string | undefined {
  if (!group.mayDescribe(actor.lid)) throw new Refusal(403, 'forbidden');
  const picture = bytes && storePicture(network.media, bytes, network.now());
  if (picture) group.state.picture = picture;
  else delete group.state.picture;
  group.changed();
  const author = actor.jidLike(group.state.addressing === 'lid' ? 'lid' : 's.whatsapp.net');
  const whose = { jid: group.jid, author };
  const change = picture ? node('set', { ...whose, id: picture.id }) : node('delete', whose);
  notifyGroup(network, group, actor, change, group.memberLids, 'picture');
  return picture?.id;
}
