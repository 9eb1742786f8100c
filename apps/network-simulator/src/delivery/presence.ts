import type { Account, Device } from '../network/account.js';
import type { Network } from '../network/network.js';
import type { Sender } from '../network/sender.js';
import { bareJid, isGroupJid, LID_SERVER, parseJid, PHONE_SERVER } from '../wire/jid.js';
import { child, node, type Node } from '../wire/node.js';

/** A device subscribes to a person's presence; it gets the present state at once. */
export function subscribePresence(network: Network, device: Device, jid: string): void {
  const account = network.accounts.find(jid);
  if (!account) return;
  network.presence.watch(account, device, bareJid(jid));
  device.sendNow(presenceNode(network, account, bareJid(jid)));
}

/** The person opens or leaves the app on the phone. */
export function setPhoneAvailable(network: Network, account: Account, available: boolean): void {
  network.presence.setPhone(account, available);
  presenceChanged(network, account);
}

/** Something about a person's devices changed: those who watch are notified, if it makes a difference. */
export function presenceChanged(network: Network, account: Account): void {
  const what = network.presence.update(account, Math.floor(network.now() / 1000));
  if (!what) return;
  for (const [device, jid] of network.presence.watchersOf(account)) {
    device.sendNow(presenceNode(network, account, jid));
  }
  const at = new Date(network.now()).toISOString();
  network.phones.notifyChat({ kind: 'presence', what, chat: account.phoneJid, from: account.phoneJid, at });
}

/** Somebody types, records, or stopped: the other devices of the chat are notified, or miss it. */
export function sendTyping(network: Network, sender: Sender, to: string, state: Node): void {
  const group = isGroupJid(to) ? network.groups.find(to) : undefined;
  const server = group ? (group.state.addressing === 'lid' ? LID_SERVER : PHONE_SERVER) : parseJid(to).server;
  const from = sender.account.jidLike(server);
  const stanza = node('chatstate', group ? { from: group.jid, participant: from } : { from }, [state]);
  const audience = group
    ? group.memberLids.map((lid) => network.accounts.find(`${lid}@${LID_SERVER}`))
    : [network.accounts.find(to)];
  const { phoneJid } = sender.account;
  const at = new Date(network.now()).toISOString();
  const event = { kind: 'typing', what: typingState(state), chat: group?.jid ?? phoneJid, from: phoneJid, at } as const;
  for (const account of audience) {
    if (!account || account === sender.account || account.state.blocked.includes(sender.account.lid)) continue;
    for (const device of account.devices.values()) device.sendNow(stanza);
    network.phones.of(account).notify(event);
  }
}

function presenceNode(network: Network, account: Account, jid: string): Node {
  if (network.presence.isAvailable(account)) return node('presence', { from: jid });
  const hidden = account.state.privacy['last'] === 'none';
  const last = hidden ? 'deny' : network.presence.lastSeenOf(account);
  return node('presence', { from: jid, type: 'unavailable', last: last === undefined ? undefined : String(last) });
}

/** The state in a chat state: `composing`, `recording` or `paused`. */
export function typingState(state: Node | undefined): string {
  if (state?.tag !== 'composing') return 'paused';
  return state.attrs['media'] === 'audio' ? 'recording' : 'composing';
}

/** The stanza part for a state. */
export function typingNode(state: 'composing' | 'recording' | 'paused'): Node {
  if (state === 'paused') return node('paused');
  return node('composing', state === 'recording' ? { media: 'audio' } : {});
}

/** A chat state as a client sends it. */
export function handleChatState(network: Network, sender: Sender, stanza: Node): void {
  const state = child(stanza);
  if (state) sendTyping(network, sender, stanza.attrs['to'] ?? '', state);
}
