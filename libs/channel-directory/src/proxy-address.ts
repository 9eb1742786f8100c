import { GatewayError, proxyParts, type SettingsPatch } from '@dormouse/gateway-contract';
import { isPlainlyNotPublic } from '@dormouse/public-addresses';

const HIGHEST_PORT = 65_535;
/** Longest user name and password of RFC 1929. */
const MOST_BYTES = 255;

/**
 * Rejects a proxy that cannot work, or whose address is not on the public internet. Host names are not resolved here,
 * since their addresses can change: the worker checks the address it connects to.
 * @param allowPrivate for development
 * @throws {GatewayError} 400 naming `proxy`; never with the password in it
 */
export function requireUsableProxy({ proxy }: SettingsPatch, { allowPrivate }: { allowPrivate: boolean }): void {
  if (proxy === undefined || proxy === '') return;
  const parts = proxyParts(proxy);
  if (!parts) throw refused('must be socks5://user:password@host:port or empty');
  if (parts.port < 1 || parts.port > HIGHEST_PORT) throw refused(`must have a port between 1 and ${HIGHEST_PORT}`);
  for (const [name, text] of Object.entries({ user: parts.user, password: parts.password })) {
    if (Buffer.byteLength(text) > MOST_BYTES) throw refused(`must have a ${name} of at most ${MOST_BYTES} bytes`);
  }
  // As a URL has it: also 127.1, 0x7f000001 and 2130706433 are addresses.
  const url = `http://${parts.host}`;
  if (!URL.canParse(url)) throw refused('must name a host');
  if (!allowPrivate && isPlainlyNotPublic(new URL(url).hostname)) throw refused('must not be a private address');
}

function refused(what: string): GatewayError {
  return new GatewayError(400, { details: `proxy: ${what}` });
}
