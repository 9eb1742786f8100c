/**
 * Connections through a channel's SOCKS5 proxy (RFC 1928, with the user and password of RFC 1929).
 *
 * A customer chooses the proxy's address: only public addresses are connected to, and the check is made on the resolved
 * address itself, not on a name that could resolve differently later.
 */
import { lookup } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import { proxyParts, type ProxyParts } from '@dormouse/gateway-contract';
import { AddressRefused, guardedConnection } from '@dormouse/public-addresses';
import { SocksClient } from 'socks';
import { ProxyFailed } from './proxy-failure.js';

/** Shorter than the timeout of a WebSocket's handshake, so that the failure is known to be the proxy's. */
const CONNECT_WITHIN_MS = 10_000;

export interface DialOptions {
  /** For development: the proxy may be on this machine. */
  allowLoopback: boolean;
  /** Timeout of the whole connection through the proxy. */
  withinMs?: number;
}

export interface Destination {
  host: string;
  port: number;
}

/**
 * Opens a TCP connection to `destination` through the proxy.
 * @param setting `socks5://user:password@host:port` or `socks5h://…`
 * @throws {ProxyFailed} for every failure, including a destination that cannot be looked up
 */
export async function dial(setting: string, destination: Destination, options: DialOptions): Promise<Socket> {
  const proxy = proxyParts(setting);
  if (!proxy) throw new ProxyFailed('unreachable', 'its address cannot be read');
  const { allowLoopback, withinMs = CONNECT_WITHIN_MS } = options;
  const { host, port, user, password } = proxy;
  const until = performance.now() + withinMs;
  let connection: Socket | undefined;
  try {
    // The lookup comes first: while it runs, an open connection would have no listener for its errors.
    const destinationHost = await destinationFor(proxy, destination.host);
    connection = await guardedConnection({ host, port }, { allowLoopback, connectTimeoutMs: withinMs });
    const { socket } = await SocksClient.createConnection({
      command: 'connect',
      existing_socket: connection,
      proxy: { host, port, type: 5, userId: user, password },
      destination: { host: destinationHost, port: destination.port },
      timeout: Math.max(1, until - performance.now()),
    });
    return socket;
  } catch (error) {
    connection?.destroy();
    throw failureOf(error);
  }
}

/** The destination as the proxy accepts it: a name if the proxy resolves names (`socks5h`), else an address. */
async function destinationFor({ looksNamesUp }: ProxyParts, host: string): Promise<string> {
  if (looksNamesUp || isIP(host)) return host;
  // IPv4 first: few proxies support IPv6, and their refusal of it looks like any other refusal.
  const addresses = await lookup(host, { all: true });
  return (addresses.find(({ family }) => family === 4) ?? addresses[0])?.address ?? host;
}

/** Messages of the library for a proxy that answers: wrong password, no common authentication method, no connection. */
const REFUSALS = /authentication|rejected connection/i;

/** The library passes on only the message of the underlying error, from which the error code is read. */
function failureOf(error: unknown): ProxyFailed {
  const message = error instanceof Error ? error.message : '';
  if (error instanceof AddressRefused)
    return new ProxyFailed('unreachable', 'its address is not on the public internet');
  if (REFUSALS.test(message)) return new ProxyFailed('refused', message);
  const [code] = /\bE[A-Z_]{3,}\b/.exec(message) ?? [];
  if (code !== undefined) return new ProxyFailed('unreachable', code);
  return new ProxyFailed(
    'unreachable',
    /timed out/i.test(message) ? 'no answer in time' : 'the connection ended early',
  );
}
