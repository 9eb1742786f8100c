import { mkdir, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { pino, type Logger } from 'pino';
import { WebSocketServer } from 'ws';
import { controlServer } from './control/server.js';
import { WaitingLogins } from './control/waiting-logins.js';
import { Connection, type ConnectionListener } from './network/connection.js';
import { dispatch } from './stanzas/dispatch.js';
import { identify } from './linking/login.js';
import { Network, type ChangeWindows } from './network/network.js';
import type { QrTimings } from './network/pairing-codes.js';
import { Phones } from './phones/phones.js';
import { presenceChanged } from './delivery/presence.js';
import { authority, listeningHost, parsePublicHost } from './serve/public-host.js';
import { certifies, selfSigned, type TlsIdentity } from './serve/self-signed.js';
import { Store } from './store/store.js';
import type { ServerIdentity } from './wire/certificate.js';

/** Everything has a default: `startSimulator({})` is a network in memory on a free port. */
export interface SimulatorOptions {
  port?: number;
  /** Address to listen on; this machine alone when absent. */
  host?: string;
  /** `host` or `host:port` under which clients reach the network: announced everywhere, and in the certificate. */
  publicHost?: string | undefined;
  /**
   * Keys of the network instead of new ones, such as `network.identity` of another one: clients in one process pin one root
   * key for all of them. What `dataDir` holds already goes first.
   */
  identity?: ServerIdentity | undefined;
  /** Keeps the network in this directory. */
  dataDir?: string | undefined;
  qr?: Partial<QrTimings>;
  windows?: Partial<ChangeWindows>;
  /** Where logins that wait to be scanned are listed, see {@link WaitingLogins}. */
  waitingLoginsUrl?: string | undefined;
  /** The network's clock, in milliseconds. */
  now?: () => number;
  log?: Logger;
}

export interface Simulator {
  network: Network;
  phones: Phones;
  /** Base address of the control API; `https` works on the same port. */
  control: string;
  /** Where clients connect; any other path works as well, and `wss`. */
  socketUrl: string;
  /** The root key that clients pin, base64 of 32 bytes. */
  rootKey: string;
  /** Every route of the port, as `METHOD /path`. */
  routes: readonly string[];
  /** The certificate of `https` and `wss`, as PEM, and a file that holds it (for NODE_EXTRA_CA_CERTS). */
  certificate: string;
  certificateFile: string;
  /** Closes every socket and writes what is not written yet. */
  stop(): Promise<void>;
}

const MAX_WS_MESSAGE_BYTES = 64 * 1024 * 1024;
const TLS_FILE = 'tls.json';
/** Hosts that clients reach by name when their traffic is led here. */
const HOST_NAMES = ['localhost', 'mmg.whatsapp.net', 'web.whatsapp.com'];

/** Starts a network with its control API, file host and WebSocket on one port. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const log = options.log ?? pino({ level: 'silent' });
  const store = new Store(options.dataDir, log);
  const network = await Network.open(store, {
    qr: { firstMs: 60_000, nextMs: 20_000, count: 6, ...options.qr },
    windows: { editSeconds: 15 * 60, deleteSeconds: 60 * 3600, ...options.windows },
    log,
    ...(options.now && { now: options.now }),
    ...(options.identity && { identity: options.identity }),
  });
  const phones = await Phones.open(network);
  const host = options.host ?? '127.0.0.1';
  const announced = options.publicHost === undefined ? listeningHost(host) : parsePublicHost(options.publicHost);
  if (!announced) throw new Error(`publicHost: ${options.publicHost} is neither a host nor host:port.`);
  const tls = await tlsIdentity(store, announced.name);
  const rootKey = network.identity.root.public.toString('base64');
  const waitingLogins = new WaitingLogins(options.waitingLoginsUrl);
  const address = () => ({ socketUrl, rootKey });
  const { app, port: server, routes } = await controlServer(phones, tls, waitingLogins, address);
  const sockets = acceptSockets(network);
  server.http.on('upgrade', sockets.upgrade);
  await app.ready();
  const port = await server.listen(host, options.port ?? 0);
  const place = authority(announced, port);
  const control = `http://${place}`;
  const socketUrl = `ws://${place}/ws/chat`;
  network.serveMediaAt(place);
  const certificateFile = await writeCertificate(options.dataDir, port, tls);
  return {
    network,
    phones,
    control,
    socketUrl,
    rootKey,
    routes,
    certificate: tls.certificate,
    certificateFile,
    stop: async () => {
      for (const connection of network.connections.all()) connection.cut();
      sockets.server.close();
      await server.close();
      await app.close();
      await store.close();
      if (options.dataDir === undefined) await rm(certificateFile, { force: true });
    },
  };
}

/** The stored certificate if it is for the host that is announced, otherwise a new one. */
async function tlsIdentity(store: Store, announced: string): Promise<TlsIdentity> {
  const isAddress = isIP(announced) !== 0;
  const names = [...new Set([...HOST_NAMES, ...(isAddress ? [] : [announced])])];
  const addresses = [...new Set(['127.0.0.1', ...(isAddress ? [announced] : [])])];
  const stored = (await store.json(TLS_FILE)) as TlsIdentity | undefined;
  if (stored && certifies(stored.certificate, names, addresses)) return stored;
  const made = selfSigned(names, addresses, new Date());
  store.save(TLS_FILE, () => made);
  return made;
}

async function writeCertificate(dataDir: string | undefined, port: number, tls: TlsIdentity): Promise<string> {
  const directory = dataDir ?? tmpdir();
  const file = join(directory, dataDir === undefined ? `network-simulator-${port}.pem` : 'certificate.pem');
  await mkdir(directory, { recursive: true });
  await writeFile(file, tls.certificate);
  return file;
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
      if (connection.account) presenceChanged(network, connection.account);
    },
  };
  return {
    server,
    upgrade: (request, socket, head) => {
      server.handleUpgrade(request, socket, head, (client) => {
        const { identity, certificates, log } = network;
        const connection = new Connection(client, identity.noise, certificates, listener, log);
        connection.lag = () => network.lagOf(connection);
        connection.trace = (direction, bytes) => network.trace.add(connection, direction, bytes);
        network.connections.add(connection);
      });
    },
  };
}
