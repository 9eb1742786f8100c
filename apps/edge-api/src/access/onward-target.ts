/**
 * Where a request goes at another region's edge. Guarantee: the path and the query of the request on the configured
 * origin, and nothing else. A request target is the caller's text: as an absolute URL (`http://host/`), with a second
 * slash (`//host/`, `/\host/`) or with user info it would name a host of the caller's choice if it were resolved against
 * the origin. So it is never resolved: the origin alone says where to connect, the target is sent as it is.
 */
import { GatewayError } from '@dormouse/gateway-contract';

/** What `http.request` needs to know of the other side. */
export interface OnwardTarget {
  protocol: 'http:' | 'https:';
  hostname: string;
  port: number;
  path: string;
}

/** One slash, then anything that may stand in a request line: no blank, no control character, no fragment. */
const PATH_AND_QUERY = /^\/(?![/\\])[^\0-\x20\x7f#]*$/;

/**
 * @param origin of the configured edge, such as `https://eu.example.com`
 * @param target the request target as it stands in the request line
 * @throws {GatewayError} 400 for a target that is no path of this API
 */
export function onwardTarget(origin: string, target: string): OnwardTarget {
  const { protocol, hostname, port, origin: expected } = new URL(origin);
  if (!PATH_AND_QUERY.test(target) || !URL.canParse(target, origin) || new URL(target, origin).origin !== expected) {
    throw new GatewayError(400, {
      details: 'path: the request target must be a path that begins with one slash, such as /messages/text',
    });
  }
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error(`cannot pass on to ${protocol}`);
  const standardPort = protocol === 'https:' ? 443 : 80;
  return {
    protocol,
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? standardPort : Number(port),
    path: target,
  };
}
