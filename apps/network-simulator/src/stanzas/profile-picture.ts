import { setOwnPicture } from '../delivery/own-picture.js';
import { setGroupPicture } from '../groups/group-picture.js';
import { Refusal } from '../network/refusal.js';
import { isGroupJid } from '../wire/jid.js';
import { bytesOf, child, node } from '../wire/node.js';
import type { IqHandler } from './query-handler.js';

/** Pictures of people and groups: where they are, unless the client has that one (`id`), and setting one's own. */
export const profilePicture: IqHandler = ({ network, device }, iq) => {
  const { account } = device;
  const target = iq.attrs['target'] ?? account.phoneJid;
  const group = isGroupJid(target) ? network.groups.find(target) : undefined;
  const request = child(iq, 'picture');
  if (iq.attrs['type'] === 'set') {
    const bytes = bytesOf(request);
    const id = group ? setGroupPicture(network, group, account, bytes) : setOwnPicture(network, account, bytes);
    return [node('picture', { id })];
  }
  const owner = group ? undefined : network.accounts.find(target);
  const hidden = owner && owner !== account && owner.state.privacy['profile'] === 'none';
  if (hidden) throw new Refusal(401, 'not-authorized');
  const picture = group ? group.state.picture : owner?.state.picture;
  if (!picture) throw new Refusal(404, 'item-not-found');
  if (request?.attrs['id'] === picture.id) return [];
  const url = `https://${network.mediaHost()}${picture.path}`;
  return [node('picture', { id: picture.id, type: request?.attrs['type'] ?? 'image', url, direct_path: picture.path })];
};
