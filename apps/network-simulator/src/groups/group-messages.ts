import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';
import { contentFor, messageBasics, type Sender } from '../network/sender.js';
import { LID_SERVER, parseJid, PHONE_SERVER } from '../wire/jid.js';
import { child, children, node, type Node } from '../wire/node.js';
import type { Group } from '../network/group.js';

/**
 * Delivers a group message to every device of every member but the sending one: the common ciphertext, preceded by that
 * device's own part (the sender's key) when there is one. A resend names one device and has one part.
 */
export function routeGroupMessage(network: Network, sender: Sender, stanza: Node): void {
  const group = network.groups.find(stanza.attrs['to'] ?? '');
  if (!group) throw new Refusal(404, 'item-not-found');
  if (!group.mayWrite(sender.account.lid)) throw new Refusal(403, 'forbidden');
  const resentTo = stanza.attrs['participant'];
  const identity = child(stanza, 'device-identity');
  if (resentTo !== undefined) {
    const target = network.accounts.find(resentTo);
    const enc = child(stanza, 'enc');
    if (target && enc) {
      const { device } = parseJid(resentTo);
      const content = contentFor(device, stanza, identity ? [enc, identity] : [enc]);
      const attrs = groupAttrs(network, group, sender, stanza);
      network.deliver(target, device, node('message', attrs, content));
    }
    return;
  }
  const own = partsByDevice(network, stanza);
  const common = child(stanza, 'enc');
  const attrs = groupAttrs(network, group, sender, stanza);
  for (const lid of group.memberLids) {
    const account = network.accounts.find(`${lid}@${LID_SERVER}`);
    if (!account) continue;
    for (const device of [0, ...account.devices.keys()]) {
      if (account === sender.account && device === sender.device) continue;
      const part = own.get(`${lid}:${device}`);
      const content = [part, common, part?.attrs['type'] === 'pkmsg' ? identity : undefined].filter(
        (one) => one !== undefined,
      );
      network.deliver(account, device, node('message', attrs, contentFor(device, stanza, content)));
    }
  }
}

function partsByDevice(network: Network, stanza: Node): Map<string, Node> {
  const parts = new Map<string, Node>();
  for (const part of children(child(stanza, 'participants'), 'to')) {
    const jid = part.attrs['jid'] ?? '';
    const enc = child(part, 'enc');
    const lid = network.accounts.find(jid)?.lid;
    if (enc && lid !== undefined) parts.set(`${lid}:${parseJid(jid).device}`, enc);
  }
  return parts;
}

function groupAttrs(network: Network, group: Group, sender: Sender, stanza: Node): Record<string, string> {
  const server = group.state.addressing === 'lid' ? LID_SERVER : PHONE_SERVER;
  const beside = sender.account.otherName(server);
  return {
    ...messageBasics(network, sender, stanza),
    from: group.jid,
    participant: sender.account.jidLike(server, sender.device),
    ...(beside !== undefined && { [server === LID_SERVER ? 'participant_pn' : 'participant_lid']: beside }),
    addressing_mode: group.state.addressing,
  };
}
