import { isIP } from 'node:net';

/** The parts of a host as addresses show it. */
export interface PublicHost {
  /** A name or an address, IPv6 without its brackets. */
  name: string;
  /** Absent: the port that the server listens on. */
  port: number | undefined;
}

/** Reads `host`, `host:port`, `1.2.3.4:port` or `[IPv6]:port`; `undefined` when it is none of them. */
export function parsePublicHost(text: string): PublicHost | undefined {
  if (!/^(\[[\da-fA-F:]+\]|[\w.-]+)(:\d{1,5})?$/.test(text) || !URL.canParse(`ws://${text}`)) return undefined;
  const { hostname } = new URL(`ws://${text}`);
  const port = /:(\d+)$/.exec(text.replace(/^\[.*\]/, ''))?.[1];
  return { name: hostname.replace(/^\[|\]$/g, ''), port: port === undefined ? undefined : Number(port) };
}

/** What is announced when nothing is set: the address that the server listens on, or this machine where that is "everywhere". */
export function listeningHost(host: string): PublicHost {
  const everywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  return { name: everywhere[host] ?? host, port: undefined };
}

/** Host and port as they stand in an address. */
export function authority({ name, port }: PublicHost, listening: number): string {
  return `${isIP(name) === 6 ? `[${name}]` : name}:${port ?? listening}`;
}
