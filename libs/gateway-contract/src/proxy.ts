/** The parts of the setting `proxy`. */
export interface ProxyParts {
  /** A name, or an IPv4 address. */
  host: string;
  port: number;
  user: string;
  password: string;
  /** `socks5h`: the proxy looks names up; with `socks5` that is done here. */
  looksNamesUp: boolean;
}

const PARTS = /^socks5(h?):\/\/([^:\s]+):(\S+)@([^@\s:]+):(\d{1,5})$/;

/**
 * Reads the setting `proxy` (`socks5://user:password@host:port`). User and password may be percent-encoded, as in any
 * URL; the user ends at the first colon, the password at the last `@`.
 * @returns undefined for text that names no proxy
 */
export function proxyParts(setting: string): ProxyParts | undefined {
  const [, resolver = '', user = '', password = '', host = '', port = ''] = PARTS.exec(setting) ?? [];
  if (host === '') return undefined;
  return { host, port: Number(port), user: decoded(user), password: decoded(password), looksNamesUp: resolver === 'h' };
}

/** A password that only looks percent-encoded is taken as it stands. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
