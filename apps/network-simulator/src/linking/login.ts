import type { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { SERVER } from '../wire/jid.js';
import { node, type Node } from '../wire/node.js';
import type { Connection } from '../network/connection.js';
import type { Device } from '../network/account.js';
import type { Network } from '../network/network.js';
import { offerCodes } from './pairing.js';

/** The handshake is over: a new client gets codes to show, a known device is logged in, anybody else is refused. */
export function identify(network: Network, connection: Connection, payload: proto.IClientPayload): void {
  const place = { phone: payload.username ? String(payload.username) : undefined, device: payload.device ?? undefined };
  const refused = network.faults.trigger('refuse-connection', place);
  if (refused) {
    refuse(connection, refused.code ?? 503);
    return;
  }
  if (network.faults.find('ban', place)) {
    refuse(connection, 403);
    return;
  }
  if (payload.devicePairingData) {
    offerCodes(network, connection);
    return;
  }
  const device = network.accounts.byNumber(place.phone ?? '')?.devices.get(payload.device ?? 0);
  if (!device || !device.state.noise.equals(connection.clientStatic)) {
    refuse(connection, 401);
    return;
  }
  logIn(network, connection, device);
}

function refuse(connection: Connection, reason: number): void {
  connection.end(node('failure', { reason: String(reason), location: 'sim' }));
}

function logIn(network: Network, connection: Connection, device: Device): void {
  connection.device = device;
  connection.silent = network.faults.find('silence', { phone: device.account.phone, device: device.id }) !== undefined;
  const older = network.connections.login(connection);
  older?.end(node('stream:error', {}, [node('conflict', { type: 'replaced' })]));
  network.log.info({ phone: device.account.phone, device: device.id }, 'logged in');
  connection.send(
    node('success', {
      t: network.timestamp(),
      lid: device.account.jidLike('lid', device.id),
      location: 'sim',
      creation: Math.floor(device.state.linkedAtMs / 1000).toString(),
    }),
  );
  // What the client repeats in front of its next handshake, so that it is routed to the same place.
  const routing = node('edge_routing', {}, [node('routing_info', {}, Buffer.from(device.key))]);
  connection.send(node('ib', { from: SERVER }, [routing]));
}

/**
 * The device requests its stanzas: how many wait, everything that waits in order, marked as offline, then the mark that ends
 * the backlog. From then on stanzas are sent as they come.
 */
export function activate(connection: Connection): void {
  const { device } = connection;
  if (!device || !connection.open) return;
  connection.active = true;
  const waiting = device.queue.all();
  if (waiting.length > 0) connection.send(node('ib', { from: SERVER }, [preview(waiting)]));
  waiting.forEach((stanza, index) => {
    connection.send({ ...stanza, attrs: { ...stanza.attrs, offline: String(index) } });
  });
  connection.send(node('ib', { from: SERVER }, [node('offline', { count: String(waiting.length) })]));
}

function preview(waiting: readonly Node[]): Node {
  const count = (tag: string): string => String(waiting.filter((stanza) => stanza.tag === tag).length);
  return node('offline_preview', {
    count: String(waiting.length),
    message: count('message'),
    receipt: count('receipt'),
    notification: count('notification'),
    call: count('call'),
    appdata: '0',
  });
}
