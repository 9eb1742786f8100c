import { node, type Node } from '../wire/node.js';
import type { Connection } from '../network/connection.js';
import { hashOfMissed } from './missed-devices.js';
import type { Sender } from '../network/sender.js';
import { routeMessage } from './messages.js';
import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';

/** Acknowledgements that a fault holds back, by the fault's id. */
const held = new Map<string, (() => void)[]>();

/** Releases the acknowledgements that were held while a fault was in force. */
export function releaseAcks(faultId: string): void {
  const waiting = held.get(faultId) ?? [];
  held.delete(faultId);
  for (const send of waiting) send();
}

/** A message from a linked device: routed and acknowledged, or refused with a number. */
export function acceptMessage(network: Network, connection: Connection, sender: Sender, stanza: Node): void {
  const place = { phone: sender.account.phone, device: sender.device };
  let error: string | undefined;
  // A requested copy is no new message: refusing it would lose one that was accepted.
  const isNew = stanza.attrs['category'] !== 'peer' && !network.resendsRequested.has(stanza.attrs['id'] ?? '');
  const refused = isNew ? network.faults.trigger('refuse-send', place) : undefined;
  if (refused) error = String(refused.code ?? 479);
  else {
    try {
      routeMessage(network, sender, stanza);
    } catch (failure) {
      if (!(failure instanceof Refusal)) throw failure;
      error = String(failure.code);
    }
  }
  const phash = error === undefined ? hashOfMissed(network, sender, stanza) : undefined;
  const { id, to, participant, category } = stanza.attrs;
  network.log.debug({ ...place, id, to, participant, category, error }, 'a message is routed');
  const ack = node('ack', {
    class: 'message',
    id,
    from: to,
    participant,
    t: network.timestamp(),
    error,
    phash,
  });
  const hold = network.faults.find('hold-acks', place);
  if (hold) {
    held.set(hold.id, [...(held.get(hold.id) ?? []), () => connection.send(ack)]);
    return;
  }
  const delay = network.faults.trigger('delay-acks', place);
  if (delay?.ms) setTimeout(() => connection.send(ack), delay.ms).unref();
  else connection.send(ack);
}
