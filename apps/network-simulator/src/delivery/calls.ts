import { randomBytes } from 'node:crypto';
import { child, node, type Node } from '../wire/node.js';
import type { Account } from '../network/account.js';
import type { Connection } from '../network/connection.js';
import type { Device } from '../network/account.js';
import type { Network } from '../network/network.js';

/** A phone rings somebody. Signalling only: nobody can talk. Returns the call's id. */
export function ring(network: Network, caller: Account, callee: Account, video: boolean): string {
  const id = randomBytes(16).toString('hex').toUpperCase();
  const media = [node('audio', { enc: 'opus', rate: '16000' })];
  if (video) media.push(node('video'));
  relayCall(network, caller, callee, node('offer', { 'call-id': id, 'call-creator': caller.phoneJid }, media));
  return id;
}

/** The caller gives up. */
export function hangUp(network: Network, caller: Account, callee: Account, id: string): void {
  const attrs = { 'call-id': id, 'call-creator': caller.phoneJid, reason: 'timeout' };
  relayCall(network, caller, callee, node('terminate', attrs));
}

/** A client answers or refuses a call; it waits for an answer with the same id. */
export function handleCall(network: Network, connection: Connection, device: Device, stanza: Node): void {
  const action = child(stanza);
  const { id, to = '' } = stanza.attrs;
  connection.send(node('ack', { class: 'call', id, from: to, type: action?.tag }));
  const caller = network.accounts.find(to);
  if (!action || !caller) return;
  network.phones.of(caller).notify({
    kind: 'call',
    what: action.tag,
    chat: device.account.phoneJid,
    from: device.account.phoneJid,
    at: new Date(network.now()).toISOString(),
    details: { id: action.attrs['call-id'] ?? '' },
  });
}

/** Brings a part of a call (offer, terminate and so on) to the other's devices and phone. */
export function relayCall(network: Network, caller: Account, callee: Account, what: Node): void {
  const attrs = { from: caller.phoneJid, id: network.stanzaId(), t: network.timestamp(), notify: caller.name };
  for (const device of callee.devices.values()) device.deliver(node('call', attrs, [what]));
  network.phones.of(callee).notify({
    kind: 'call',
    what: what.tag,
    chat: caller.phoneJid,
    from: caller.phoneJid,
    at: new Date(network.now()).toISOString(),
    details: { id: what.attrs['call-id'] ?? '' },
  });
}
