import { BlockList, isIP } from 'node:net';
import { GatewayError, type SettingsPatch } from '@dormouse/gateway-contract';

/** Addresses that are nobody's public server: RFC 6890 and its registries. */
const NOT_PUBLIC = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  NOT_PUBLIC.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 127],
  ['64:ff9b:1::', 48],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  NOT_PUBLIC.addSubnet(network, prefix, 'ipv6');
}

/**
 * Refuses webhooks whose URL plainly names a loopback, private or link-local address. Names are not looked up: where a
 * name leads can change, so the dispatcher checks the address it connects to.
 * @throws {GatewayError} 400 naming the entry
 */
export function requirePublicWebhooks(patch: SettingsPatch): void {
  patch.webhooks?.forEach(({ url }, index) => {
    if (isPrivateHost(new URL(url).hostname)) {
      throw new GatewayError(400, { details: `webhooks.${index}.url: must not be a private address` });
    }
  });
}

/** Does a host, as a URL has it, plainly name a loopback, private or link-local address? */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const family = isIP(host);
  if (family === 0) return /(^|\.)(localhost|internal|local)$/i.test(host);
  return NOT_PUBLIC.check(host, family === 6 ? 'ipv6' : 'ipv4');
}
