/**
 * Which addresses a download may connect to: those of the public internet. What is checked is the address the socket
 * is connected to, not a name that could resolve differently a moment later (DNS rebinding): names are resolved by the
 * lookup that the connection itself uses, and the connected peer is checked once more before a byte is sent.
 */
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

/** The address is none a customer's URL may lead to. */
export class AddressRefused extends Error {
  constructor(readonly address: string) {
    super(`address ${address} is not on the public internet`);
    this.name = 'AddressRefused';
  }
}

/** Public by number, but answered by the cloud's own machinery (Azure's metadata and DHCP). */
const CLOUD_MACHINERY = new Set(['168.63.129.16']);
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is on the public internet: not private, loopback, link-local (which holds the clouds' metadata
 * services), shared, reserved, multicast, nor one of the IPv6 forms that stand for an IPv4 address.
 * @param allowLoopback for development: also 127.0.0.0/8 and ::1
 */
export function isPublicAddress(address: string, allowLoopback = false): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address.split('%')[0] ?? address);
  const range = parsed.range();
  if (range === 'loopback') return allowLoopback;
  if (range !== 'unicast') return false;
  if (parsed.kind() === 'ipv6') return (parsed as ipaddr.IPv6).match(GLOBAL_UNICAST_V6);
  return !CLOUD_MACHINERY.has(parsed.toString());
}

export interface AddressGuardOptions {
  allowLoopback?: boolean;
  connectTimeoutMs?: number;
  /** The resolver; the system's unless given. Called as Node calls it, with `all: true`. */
  lookup?: (
    hostname: string,
    options: LookupOptions & { all: true },
    callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
  ) => void;
}

/** A resolver for sockets that finds a name's public addresses only; it fails with AddressRefused when there is none. */
export function guardedLookup(options: AddressGuardOptions): LookupFunction {
  const resolve = options.lookup ?? systemLookup;
  return (hostname, asked, callback) => {
    resolve(hostname, { ...asked, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const allowed = addresses.filter(({ address }) => isPublicAddress(address, options.allowLoopback));
      const [first] = allowed;
      if (!first) return callback(new AddressRefused(addresses[0]?.address ?? hostname), '', 0);
      if (asked.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/** A connector for undici that reaches public addresses only; it fails with AddressRefused for all others. */
export function guardedConnector(options: AddressGuardOptions = {}): buildConnector.connector {
  const connect = buildConnector({
    timeout: options.connectTimeoutMs ?? 5_000,
    allowH2: false,
    lookup: guardedLookup(options),
  });
  return (target, callback) => {
    // A literal address never passes the lookup.
    const literal = target.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) && !isPublicAddress(literal, options.allowLoopback)) {
      return callback(new AddressRefused(literal), null);
    }
    connect(target, (...[error, socket]) => {
      if (error) return callback(error, null);
      const peer = socket.remoteAddress ?? '';
      if (isPublicAddress(peer, options.allowLoopback)) return callback(null, socket);
      socket.destroy();
      callback(new AddressRefused(peer), null);
    });
  };
}
