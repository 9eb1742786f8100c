/**
 * Which addresses a server may connect to because a customer or a stranger named them: downloads, webhooks, proxies.
 *
 * Guarantee: only those of the public internet. What is checked is the address that is connected to, not a name that
 * could resolve differently a moment later (DNS rebinding): a literal before it is dialled, a name by the lookup that
 * the connection itself uses, and the connected peer once more before a byte is sent.
 */
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

/** The address is none that others may have a server connect to. */
export class AddressRefused extends Error {
  readonly code = 'ADDRESS_REFUSED';

  constructor(readonly address: string) {
    super(`address ${address} is not on the public internet`);
    this.name = 'AddressRefused';
  }
}

/**
 * Public by number, but answered by a cloud's own machinery: Azure's metadata and DHCP ("wire server"), and the service
 * network of IBM Cloud. The metadata services of the other clouds are in special ranges (169.254.0.0/16,
 * 100.100.100.200, 192.0.0.192, fd00:ec2::254, fd20:ce::254).
 */
const CLOUD_MACHINERY = ['168.63.129.16/32', '161.26.0.0/16', '166.8.0.0/14'].map((cidr) =>
  ipaddr.IPv4.parseCIDR(cidr),
);
/** All that is assigned of IPv6. */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3');
const PRIVATE_RANGES: readonly string[] = ['private', 'uniqueLocal', 'carrierGradeNat'];

/** What is allowed beside public addresses; both are for development. */
export interface AllowedAddresses {
  /** 127.0.0.0/8 and ::1. */
  allowLoopback?: boolean;
  /** Private networks (RFC 1918, 4193, 6598), and loopback with them; never link-local ones. */
  allowPrivate?: boolean;
}

/**
 * Whether an address is on the public internet: not private, loopback, link-local (which holds the clouds' metadata
 * services), shared, reserved, multicast, nor one of the IPv6 forms that stand for an IPv4 address.
 */
export function isPublicAddress(address: string, { allowLoopback, allowPrivate }: AllowedAddresses = {}): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address.split('%')[0] ?? address);
  const range = parsed.range();
  if (range === 'loopback') return allowLoopback === true || allowPrivate === true;
  if (PRIVATE_RANGES.includes(range)) return allowPrivate === true;
  if (range !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(GLOBAL_UNICAST_V6);
  return !CLOUD_MACHINERY.some((network) => parsed.match(network));
}

/**
 * Whether a host, as `URL.hostname` has it, plainly is none of the public internet: a literal address that is not, or a
 * name that only means something inside of a network. Names are not looked up.
 */
export function isPlainlyNotPublic(hostname: string): boolean {
  const host = literalOf(hostname).replace(/\.$/, '');
  if (isIP(host)) return !isPublicAddress(host);
  return /(^|\.)(localhost|localdomain|internal|local|home\.arpa)$/i.test(host);
}

export interface AddressGuardOptions extends AllowedAddresses {
  connectTimeoutMs?: number;
  /** The resolver; the system's unless given. Called as Node calls it, with `all: true`. */
  lookup?: (
    hostname: string,
    options: LookupOptions & { all: true },
    callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
  ) => void;
}

/** A resolver for sockets that finds a name's allowed addresses only; it fails with AddressRefused when there is none. */
export function guardedLookup(options: AddressGuardOptions): LookupFunction {
  const resolve = options.lookup ?? systemLookup;
  return (hostname, wanted, callback) => {
    resolve(hostname, { ...wanted, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const allowed = addresses.filter(({ address }) => isPublicAddress(address, options));
      const [first] = allowed;
      if (!first) return callback(new AddressRefused(addresses[0]?.address ?? hostname), '', 0);
      if (wanted.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/** A connector for undici that reaches allowed addresses only; it fails with AddressRefused for all others. */
export function guardedConnector(options: AddressGuardOptions = {}): buildConnector.connector {
  const connectTo = buildConnector({
    timeout: options.connectTimeoutMs ?? 5_000,
    allowH2: false,
    lookup: guardedLookup(options),
  });
  return (target, callback) => {
    const refused = refusalOfLiteral(target.hostname, options);
    if (refused) return callback(refused, null);
    connectTo(target, (...[error, socket]) => {
      if (error) return callback(error, null);
      const unexpected = refusalOfPeer(socket, options);
      if (unexpected) callback(unexpected, null);
      else callback(null, socket);
    });
  };
}

/**
 * A TCP connection to an allowed address.
 * @param options.connectTimeoutMs 5 s unless given
 * @throws {AddressRefused} for all others; what Node throws when there is no connection
 */
export function guardedConnection(
  { host, port }: { host: string; port: number },
  options: AddressGuardOptions = {},
): Promise<Socket> {
  const refused = refusalOfLiteral(host, options);
  if (refused) return Promise.reject(refused);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: literalOf(host), port, lookup: guardedLookup(options) });
    const fail = (error: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(() => fail(new Error('connecting timed out')), options.connectTimeoutMs ?? 5_000);
    socket.once('error', fail).once('connect', () => {
      const unexpected = refusalOfPeer(socket, options);
      if (unexpected) return fail(unexpected);
      clearTimeout(timer);
      socket.off('error', fail);
      resolve(socket);
    });
  });
}

/** A literal address never passes a lookup. */
function refusalOfLiteral(hostname: string, allowed: AllowedAddresses): AddressRefused | undefined {
  const literal = literalOf(hostname);
  return isIP(literal) && !isPublicAddress(literal, allowed) ? new AddressRefused(literal) : undefined;
}

function refusalOfPeer(socket: Socket, allowed: AllowedAddresses): AddressRefused | undefined {
  const peer = socket.remoteAddress ?? '';
  if (isPublicAddress(peer, allowed)) return undefined;
  socket.destroy();
  return new AddressRefused(peer);
}

function literalOf(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
