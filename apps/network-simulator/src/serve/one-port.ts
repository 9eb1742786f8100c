import { createServer as createHttp, type RequestListener, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { createServer as createTcp, type AddressInfo, type Socket } from 'node:net';
import type { TlsIdentity } from './self-signed.js';

const TLS_HANDSHAKE = 0x16;
/** Node's own 5 s would end a connection just as a client that was busy for some seconds sends its next request on it. */
const KEEP_ALIVE_MS = 72_000;

/** A listener that answers `http`, `https`, `ws` and `wss` on one port. */
export interface OnePort {
  /** The plain server: requests and upgrades of both kinds reach its handlers. */
  http: Server;
  listen(host: string, port: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * Looks at the first byte of every connection: a TLS handshake goes to the secure server, anything else to the plain one.
 * Clients that insist on `https` for files and people with a browser can so use the same address.
 */
export function onePort(handler: RequestListener, tls: TlsIdentity): OnePort {
  const http = createHttp({ keepAliveTimeout: KEEP_ALIVE_MS }, handler);
  const https = createHttps({ key: tls.key, cert: tls.certificate, keepAliveTimeout: KEEP_ALIVE_MS }, handler);
  https.on('upgrade', (request, socket, head) => http.emit('upgrade', request, socket, head));
  const open = new Set<Socket>();
  const tcp = createTcp({ pauseOnConnect: false }, (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.once('data', (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      const server = first[0] === TLS_HANDSHAKE ? https : http;
      server.emit('connection', socket);
      process.nextTick(() => socket.resume());
    });
  });
  return {
    http,
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        tcp.once('error', reject);
        tcp.listen(port, host, () => resolve((tcp.address() as AddressInfo).port));
      }),
    close: () =>
      new Promise((resolve) => {
        tcp.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
