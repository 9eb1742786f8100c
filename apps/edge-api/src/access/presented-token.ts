import { readToken, type TokenFault } from '@dormouse/channel-token';
import { GatewayError, type Region } from '@dormouse/gateway-contract';
import type { FastifyRequest } from 'fastify';

/** Details for each fault of a token. An absent token needs no explanation. */
const FAULTS: Record<TokenFault, string | undefined> = {
  absent: undefined,
  'surrounding space': 'the token begins or ends with a space: send it exactly as it was shown',
  'wrong prefix': 'the token must begin with dm_',
  'unknown region': 'the token names a region that does not exist',
  truncated: 'the token is truncated: its end is missing',
  'too long': 'the token has characters after its end',
  'bad checksum': 'the token was mistyped or damaged: its checksum does not match',
};

export interface PresentedToken {
  text: string;
  region: Region;
}

/**
 * The token of a request: from `Authorization: Bearer`, else from `?token=`. The header wins when both are present.
 * Nothing is trimmed; white space that HTTP strips around a header's value is not part of the value.
 * @throws {GatewayError} 401 whose details name the fault
 */
export function presentedToken(request: Pick<FastifyRequest, 'headers' | 'query'>): PresentedToken {
  const text = fromHeader(request.headers.authorization) ?? fromQuery(request.query);
  const reading = readToken(text);
  if ('fault' in reading) {
    const details = FAULTS[reading.fault];
    throw new GatewayError(401, details === undefined ? {} : { details });
  }
  return { text: text ?? '', region: reading.region };
}

function fromHeader(header: string | undefined): string | undefined {
  if (header === undefined || header === '') return undefined;
  const token = /^Bearer (.*)$/is.exec(header)?.[1];
  if (token === undefined) throw new GatewayError(401, { details: 'the header must be Authorization: Bearer <token>' });
  return token;
}

function fromQuery(query: unknown): string | undefined {
  if (typeof query !== 'object' || query === null || !('token' in query)) return undefined;
  if (typeof query.token === 'string') return query.token;
  throw new GatewayError(401, { details: 'the query has more than one token' });
}
