import ipaddr from 'ipaddr.js';

/**
 * By what the requests of one client are counted: its IPv4 address; of IPv6 the network of one customer (/64), who has all
 * of its addresses.
 */
export function addressBlock(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${parsed.toNormalizedString().split(':').slice(0, 4).join(':')}::/64`;
}
