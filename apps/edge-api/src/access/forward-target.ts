/**
 * The target of a forwarded request. Guarantee: the path and the query of the request on the configured origin, and
 * nothing else. The request target is the client's text: as an absolute URL (`http://host/`), with a second slash
 * (`//host/`, `/\host/`) or with user info it would name a host of the client's choice if it were resolved against the
 * origin. So it is never resolved: the connection is made to the origin, and the target is sent unchanged.
 */
import { GatewayError } from '@dormouse/gateway-contract';

/** Address of the other side, as `http.request` takes it. */
export interface ForwardTarget {
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
export function forwardTarget(origin: string, target: string): ForwardTarget {
  const { protocol, hostname, port, origin: expected } = new URL(origin);
  if (!PATH_AND_QUERY.test(target) || !URL.canParse(target, origin) || new URL(target, origin).origin !== expected) {
    throw new GatewayError(400, {
      details: 'path: the request target must be a path that begins with one slash, such as /messages/text',
    });
  }
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error(`cannot forward to ${protocol}`);
  const standardPort = protocol === 'https:' ? 443 : 80;
  return {
    protocol,
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? standardPort : Number(port),
    path: target,
  };
}
