/**
 * Connections through a channel's SOCKS5 proxy (RFC 1928, with the user and password of RFC 1929).
 *
 * The proxy is an address that a customer chose: only public addresses are connected to, and what is checked is the
 * address itself, not a name that could resolve differently a moment later.
 */
import { lookup } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import { proxyParts, type ProxyParts } from '@dormouse/gateway-contract';
import { AddressRefused, guardedConnection } from '@dormouse/public-addresses';
import { SocksClient } from 'socks';
import { ProxyFailed } from './proxy-failure.js';

/** Less than a WebSocket has for its handshake, so that the proxy is known to be what failed. */
const CONNECT_WITHIN_MS = 10_000;

export interface DialOptions {
  /** For development: the proxy may be on this machine. */
  allowLoopback: boolean;
  /** How long the proxy may take for all of it. */
  withinMs?: number;
}

export interface Destination {
  host: string;
  port: number;
}

/**
 * A TCP connection to `destination` through the proxy.
 * @param setting `socks5://user:password@host:port` or `socks5h://…`
 * @throws {ProxyFailed} whatever goes wrong: the proxy's own failures, and a name that cannot be looked up for it
 */
export async function dial(setting: string, destination: Destination, options: DialOptions): Promise<Socket> {
  const proxy = proxyParts(setting);
  if (!proxy) throw new ProxyFailed('unreachable', 'its address cannot be read');
  const { allowLoopback, withinMs = CONNECT_WITHIN_MS } = options;
  const { host, port, user, password } = proxy;
  const until = performance.now() + withinMs;
  let connection: Socket | undefined;
  try {
    // Looked up before: nobody hears a connection break that waits.
    const destinationHost = await asTheProxyWantsIt(proxy, destination.host);
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

async function asTheProxyWantsIt({ looksNamesUp }: ProxyParts, host: string): Promise<string> {
  if (looksNamesUp || isIP(host)) return host;
  // Few proxies have IPv6, and a refusal cannot be told from any other.
  const addresses = await lookup(host, { all: true });
  return (addresses.find(({ family }) => family === 4) ?? addresses[0])?.address ?? host;
}

/** What the library says of a proxy that answers: wrong password, no way to sign in that both know, no connection. */
const REFUSALS = /authentication|rejected connection/i;

/** The library keeps only the words of what went wrong underneath. */
function failureOf(error: unknown): ProxyFailed {
  const message = error instanceof Error ? error.message : '';
  if (error instanceof AddressRefused)
    return new ProxyFailed('unreachable', 'its address is not on the public internet');
  if (REFUSALS.test(message)) return new ProxyFailed('refused', message);
  const [code] = /\bE[A-Z_]{3,}\b/.exec(message) ?? [];
  if (code !== undefined) return new ProxyFailed('unreachable', code);
  return new ProxyFailed('unreachable', /timed out/i.test(message) ? 'no answer in time' : 'it broke off');
}
