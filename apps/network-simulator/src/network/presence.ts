import { bareJid, isGroupJid, LID_SERVER, parseJid, PHONE_SERVER } from '../wire/jid.js';
import { child, node, type Node } from '../wire/node.js';
import type { Account } from './account.js';
import type { Device } from './device.js';
import type { Sender } from './messages.js';
import type { Network } from './network.js';

/** Who is there, who wants to know it, and who is typing. Nothing of this waits for anybody: it is told or lost. */
export class Presence {
  /** Devices that asked about a person, with the address they asked by. */
  private readonly watchers = new Map<string, Map<Device, string>>();
  private readonly phonesAvailable = new Set<string>();
  private readonly lastSeen = new Map<string, number>();
  private readonly told = new Map<string, boolean>();

  constructor(private readonly network: Network) {}

  /** A device wants to hear of a person; it hears the present state at once. */
  subscribe(device: Device, jid: string): void {
    const account = this.network.accounts.find(jid);
    if (!account) return;
    const watchers = this.watchers.get(account.lid) ?? new Map<Device, string>();
    this.watchers.set(account.lid, watchers.set(device, bareJid(jid)));
    device.tell(this.stateOf(account, bareJid(jid)));
  }

  isAvailable(account: Account): boolean {
    if (this.phonesAvailable.has(account.lid)) return true;
    return [...account.devices.values()].some(({ connection }) => connection?.available);
  }

  /** The person opens or leaves the app on the phone. */
  setPhone(account: Account, available: boolean): void {
    if (available) this.phonesAvailable.add(account.lid);
    else this.phonesAvailable.delete(account.lid);
    this.changed(account);
  }

  /** Something about a person's devices changed: whoever watches hears it, if it makes a difference. */
  changed(account: Account): void {
    const available = this.isAvailable(account);
    if (this.told.get(account.lid) === available) return;
    this.told.set(account.lid, available);
    if (!available) this.lastSeen.set(account.lid, Math.floor(this.network.now() / 1000));
    for (const [device, jid] of this.watchers.get(account.lid) ?? []) device.tell(this.stateOf(account, jid));
    const at = new Date(this.network.now()).toISOString();
    const what = available ? 'available' : 'unavailable';
    this.network.phoneEvent({ kind: 'presence', what, chat: account.phoneJid, from: account.phoneJid, at });
  }

  /** Somebody types, records, or stopped: the other devices of the chat are told. */
  typing(sender: Sender, to: string, state: Node): void {
    const { network } = this;
    const group = isGroupJid(to) ? network.groups.find(to) : undefined;
    const server = group ? (group.state.addressing === 'lid' ? LID_SERVER : PHONE_SERVER) : parseJid(to).server;
    const from = sender.account.jidLike(server);
    const stanza = node('chatstate', group ? { from: group.jid, participant: from } : { from }, [state]);
    const audience = group
      ? group.memberLids.map((lid) => network.accounts.find(`${lid}@${LID_SERVER}`))
      : [network.accounts.find(to)];
    for (const account of audience) {
      if (!account || account === sender.account || account.state.blocked.includes(sender.account.lid)) continue;
      for (const device of account.devices.values()) device.tell(stanza);
      network.phone(account).noticeTyping(group?.jid ?? sender.account.phoneJid, sender.account.phoneJid, state);
    }
  }

  private stateOf(account: Account, jid: string): Node {
    if (this.isAvailable(account)) return node('presence', { from: jid });
    const hidden = account.state.privacy['last'] === 'none';
    const last = hidden ? 'deny' : this.lastSeen.get(account.lid);
    return node('presence', { from: jid, type: 'unavailable', last: last === undefined ? undefined : String(last) });
  }
}

/** What a chat state says: `composing`, `recording` or `paused`. */
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
export function hearTyping(network: Network, sender: Sender, stanza: Node): void {
  const state = child(stanza);
  if (state) network.presence.typing(sender, stanza.attrs['to'] ?? '', state);
}
