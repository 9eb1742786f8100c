import { answerIq } from './answer.js';
import { PHONE_SERVER } from '../wire/jid.js';
import { node, type Node } from '../wire/node.js';
import { acceptMessage } from '../delivery/acknowledge.js';
import type { Connection } from '../network/connection.js';
import type { Device } from '../network/account.js';
import type { Network } from '../network/network.js';
import { handleCall } from '../delivery/calls.js';
import { handleChatState, presenceChanged, subscribePresence } from '../delivery/presence.js';
import { pairingAnswer } from '../linking/pairing.js';
import { receiptIds, routeReceipt } from '../delivery/receipts.js';

const GIVEN_UP_LIMIT = 10_000;

type Handler = (network: Network, connection: Connection, device: Device, stanza: Node) => void;

/** What a logged-in client may send, by tag. Tags that are not listed are ignored. */
const handlers: Record<string, Handler> = {
  iq: (network, connection, device, stanza) => void answerIq(network, connection, device, stanza),
  message: (network, connection, device, stanza) => {
    acceptMessage(network, connection, { account: device.account, device: device.id }, stanza);
  },
  receipt: (network, connection, device, stanza) => {
    const type = stanza.attrs['type'];
    if (type !== 'retry') for (const id of receiptIds(stanza)) confirmMessage(network, device, id);
    connection.send(
      node('ack', {
        class: 'receipt',
        id: stanza.attrs['id'],
        from: stanza.attrs['to'] ?? `@${PHONE_SERVER}`,
        participant: stanza.attrs['participant'],
        type,
      }),
    );
    routeReceipt(network, { account: device.account, device: device.id }, stanza);
  },
  ack: (network, _connection, device, stanza) => {
    const { class: tag = '', id = '', type, error } = stanza.attrs;
    if (device.queue.confirm(tag, id, type)) device.account.changed();
    // 500 comes with a request for another copy; anything else ends it.
    if (tag === 'message' && error !== undefined && error !== '500') {
      if (network.givenUp.length >= GIVEN_UP_LIMIT) network.givenUp.shift();
      const { id: number, account } = device;
      network.givenUp.push({ phone: account.phone, device: number, id, error, atMs: network.now() });
      network.log.debug({ phone: account.phone, device: number, id, error }, 'a device rejects a message for good');
    }
  },
  presence: (network, connection, device, stanza) => {
    const { type, name, to } = stanza.attrs;
    if (type === 'subscribe') subscribePresence(network, device, to ?? '');
    if (type === 'available' || type === 'unavailable') {
      connection.available = type === 'available';
      presenceChanged(network, device.account);
    }
    if (name !== undefined && name !== '' && name !== device.account.name) {
      device.account.state.name = name;
      device.account.changed();
    }
  },
  chatstate: (network, _connection, device, stanza) => {
    handleChatState(network, { account: device.account, device: device.id }, stanza);
  },
  call: (network, connection, device, stanza) => handleCall(network, connection, device, stanza),
};

/** Handles one stanza of a client. */
export function dispatch(network: Network, connection: Connection, stanza: Node): void {
  const { device } = connection;
  if (!device) {
    if (stanza.tag === 'iq') void answerUnlinked(network, connection, stanza);
    return;
  }
  handlers[stanza.tag]?.(network, connection, device, stanza);
}

async function answerUnlinked(network: Network, connection: Connection, stanza: Node): Promise<void> {
  if (stanza.attrs['type'] === 'result') pairingAnswer(connection, stanza);
  else await answerIq(network, connection, undefined, stanza);
}

function confirmMessage(network: Network, device: Device, id: string): void {
  if (!device.queue.confirm('message', id)) return;
  device.account.changed();
  network.log.debug({ phone: device.account.phone, device: device.id, id }, 'a device confirms a message');
}
