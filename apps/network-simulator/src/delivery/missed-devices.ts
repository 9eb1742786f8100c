import type { Account } from '../network/account.js';
import { deviceListHash } from '../network/device-lists.js';
import type { Network } from '../network/network.js';
import type { Sender } from '../network/sender.js';
import { isGroupJid, LID_SERVER, parseJid, PHONE_SERVER } from '../wire/jid.js';
import { child, children, type Node } from '../wire/node.js';

/**
 * The hash of the devices that a message should have been encrypted for, when the sender left some out because its list of them
 * is old: it goes into the acknowledgement as `phash`, and clients then query the list again (whatsmeow, send.go). Of
 * groups the sender states the hash of its own list.
 */
export function hashOfMissed(network: Network, sender: Sender, stanza: Node): string | undefined {
  const { to = '', category, participant, phash } = stanza.attrs;
  const parts = child(stanza, 'participants');
  if (category === 'peer' || participant !== undefined) return undefined;
  if (isGroupJid(to)) {
    const group = phash === undefined ? undefined : network.groups.find(to);
    if (!group) return undefined;
    const members = group.memberLids.flatMap((lid) => network.accounts.find(`${lid}@${LID_SERVER}`) ?? []);
    const hash = deviceListHash(members, group.state.addressing === 'lid' ? LID_SERVER : PHONE_SERVER);
    return hash === phash ? undefined : hash;
  }
  const recipient = network.accounts.find(to);
  if (!parts || !recipient) return undefined;
  const people = [...new Set([recipient, sender.account])];
  const served = new Set(
    children(parts, 'to').map(({ attrs: { jid = '' } }) => keyOf(network.accounts.find(jid), parseJid(jid).device)),
  );
  served.add(keyOf(sender.account, sender.device));
  const complete = people.every((account) =>
    [0, ...account.devices.keys()].every((device) => served.has(keyOf(account, device))),
  );
  return complete ? undefined : deviceListHash(people, parseJid(to).server);
}

const keyOf = (account: Account | undefined, device: number): string => `${account?.lid}:${device}`;
