import { STATUS_BROADCAST, bareJid, isGroupJid, isLidJid, LID_SERVER, parseJid, PHONE_SERVER } from '../wire/jid.js';
import { routeGroupMessage } from '../groups/group-messages.js';
import { bytesOf, child, children, node, type Node } from '../wire/node.js';
import type { Account } from '../network/account.js';
import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';
import { contentFor, messageBasics, type Sender } from '../network/sender.js';

/**
 * Accepts a message stanza from a device and delivers each device its own part.
 * Throws {@link Refusal} with the number the sender gets in its acknowledgement.
 */
export function routeMessage(network: Network, sender: Sender, stanza: Node): void {
  const to = stanza.attrs['to'] ?? '';
  if (to === STATUS_BROADCAST) return;
  if (isGroupJid(to)) {
    routeGroupMessage(network, sender, stanza);
    return;
  }
  const recipient = network.accounts.find(to);
  if (!recipient || network.unknown(recipient)) throw new Refusal(404, 'There is no such number.');
  const alone = child(stanza, 'enc');
  if (stanza.attrs['category'] === 'peer') {
    if (recipient === sender.account && alone) deliverPeer(network, sender, stanza, alone);
    return;
  }
  if (alone) {
    deliverDirect(network, sender, stanza, recipient, parseJid(to).device, alone);
    return;
  }
  const served = new Set<string>();
  for (const part of children(child(stanza, 'participants'), 'to')) {
    const jid = part.attrs['jid'] ?? '';
    const account = network.accounts.find(jid);
    const { device } = parseJid(jid);
    const enc = child(part, 'enc');
    // A message to oneself names the same devices twice, and some clients name the sending device.
    const key = `${account?.lid}:${device}`;
    if (!account || !enc || served.has(key) || (account === sender.account && device === sender.device)) continue;
    served.add(key);
    deliverDirect(network, sender, stanza, account, device, enc);
  }
}

function deliverPeer(network: Network, sender: Sender, stanza: Node, enc: Node): void {
  const from = sender.account.jidLike(PHONE_SERVER, sender.device);
  network.deliver(
    sender.account,
    0,
    node('message', { ...messageBasics(network, sender, stanza), from, category: 'peer' }, [enc]),
  );
}

function deliverDirect(
  network: Network,
  sender: Sender,
  stanza: Node,
  target: Account,
  device: number,
  enc: Node,
): void {
  const to = stanza.attrs['to'] ?? '';
  const server = isLidJid(to) ? LID_SERVER : PHONE_SERVER;
  // A sender who is blocked is not notified of it: the message is dropped.
  if (target.state.blocked.includes(sender.account.lid)) return;
  const attrs: Record<string, string> = {
    ...messageBasics(network, sender, stanza),
    from: sender.account.jidLike(server, sender.device),
  };
  if (target === sender.account) {
    // An own device gets the chat: who it is with, in both namings; never our own other naming as the sender's.
    const chat = bareJid(stanza.attrs['recipient'] ?? to);
    attrs['recipient'] = chat;
    const beside = network.accounts.find(chat)?.otherName(server);
    if (beside !== undefined) attrs[server === LID_SERVER ? 'peer_recipient_pn' : 'peer_recipient_lid'] = beside;
  } else {
    const beside = sender.account.otherName(server);
    if (beside !== undefined) attrs[server === LID_SERVER ? 'sender_pn' : 'sender_lid'] = beside;
  }
  const content = [enc];
  const identity = child(stanza, 'device-identity');
  if (enc.attrs['type'] === 'pkmsg' && identity && bytesOf(identity)) content.push(identity);
  network.deliver(target, device, node('message', attrs, contentFor(device, stanza, content)));
}
