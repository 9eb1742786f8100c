import type { AddressInfo } from 'node:net';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { pino, type Logger } from 'pino';
import { WebSocketServer } from 'ws';
import { controlServer } from './control/server.js';
import { Connection, type ConnectionListener } from './network/connection.js';
import { dispatch } from './network/dispatch.js';
import { identify } from './network/login.js';
import { Network, type QrTimings } from './network/network.js';
import { Store } from './store/store.js';

/** Everything has a default: `startSimulator({})` is a network in memory on a free port. */
export interface SimulatorOptions {
  port?: number;
  host?: string;
  /** Keeps the network in this directory. */
  dataDir?: string | undefined;
  qr?: Partial<QrTimings>;
  log?: Logger;
}

export interface Simulator {
  network: Network;
  /** Base address of the control API. */
  control: string;
  /** Where clients connect; any other path works as well. */
  socketUrl: string;
  /** The root key that clients pin, base64 of 32 bytes. */
  rootKey: string;
  /** Closes every socket and writes what is not written yet. */
  stop(): Promise<void>;
}

const MAX_WS_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Starts a network with its control API and WebSocket on one port. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const log = options.log ?? pino({ level: 'silent' });
  const store = new Store(options.dataDir, log);
  const network = await Network.open(store, { qr: { firstMs: 60_000, nextMs: 20_000, count: 6, ...options.qr }, log });
  const host = options.host ?? '127.0.0.1';
  const app = await controlServer(network, () => ({ socketUrl, rootKey }));
  const sockets = acceptSockets(network);
  app.server.on('upgrade', sockets.upgrade);
  await app.listen({ host, port: options.port ?? 0 });
  const { port } = app.server.address() as AddressInfo;
  const control = `http://${host}:${port}`;
  const socketUrl = `ws://${host}:${port}/ws/chat`;
  const rootKey = network.identity.root.public.toString('base64');
  network.serveMediaAt(`${host}:${port}`);
  return {
    network,
    control,
    socketUrl,
    rootKey,
    stop: async () => {
      for (const connection of network.connections.all()) connection.cut();
      sockets.server.close();
      await app.close();
      await store.close();
    },
  };
}

function acceptSockets(network: Network): {
  server: WebSocketServer;
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
} {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_WS_MESSAGE_BYTES, perMessageDeflate: false });
  const listener: ConnectionListener = {
    identified: (connection, _clientStatic, payload) => identify(network, connection, payload),
    stanza: (connection, stanza) => dispatch(network, connection, stanza),
    closed: (connection) => {
      network.pairingCodes.forget(connection);
      network.connections.closed(connection);
    },
  };
  return {
    server,
    upgrade: (request, socket, head) => {
      server.handleUpgrade(request, socket, head, (client) => {
        const { identity, certificates, log } = network;
        network.connections.add(new Connection(client, identity.noise, certificates, listener, log));
      });
    },
  };
}
