/**
 * Keeps webhooks out of private networks.
 *
 * Guarantee: no connection is opened to an address that is not a public one (loopback, private, link-local and with it
 * the clouds' metadata service, carrier-grade NAT, reserved and translated ranges). The address that is checked is the
 * one that is connected to, at every connect, so a name that changes its address between check and use gains nothing.
 */
import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

/** The webhook's host is, or resolves only to, addresses that webhooks may not reach. */
export class PrivateAddressError extends Error {
  readonly code = 'PRIVATE_ADDRESS';

  constructor() {
    super('the host has no public address');
    this.name = 'PrivateAddressError';
  }
}

/** Is this IP address reachable for everybody? Anything that is not plain unicast is not. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';
}

/** Resolves a name, like `dns.lookup`. */
export type ResolveAll = (
  hostname: string,
  options: { all: true; family?: number },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** A look-up that finds only public addresses, and fails with {@link PrivateAddressError} if there are none. */
export function publicLookup(resolveAll: ResolveAll = dnsLookup): LookupFunction {
  return (hostname, options, callback) => {
    const family = typeof options.family === 'number' ? options.family : 0;
    resolveAll(hostname, { all: true, family }, (error, found) => {
      if (error) return callback(error, []);
      const addresses = found.filter(({ address }) => isPublicAddress(address));
      const [first] = addresses;
      if (!first) return callback(new PrivateAddressError(), []);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/** A connector for the HTTP client that reaches public addresses only. */
export function publicConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: publicLookup() });
  return (target, callback) => {
    // Node asks the look-up only for names: an address written into the URL is checked here.
    const literal = target.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0 && !isPublicAddress(literal)) return callback(new PrivateAddressError(), null);
    connect(target, callback);
  };
}
