import { errorEnvelope, GatewayError, type ErrorFacts, type ErrorStatus, type Site } from './errors.js';

/** An error as an HTTP response. */
export interface ErrorAnswer {
  status: ErrorStatus;
  headers: Record<string, string>;
  body: string;
}

export function errorAnswer(error: GatewayError, site: Site): ErrorAnswer {
  const { status, retryAfterS } = error;
  return {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...(retryAfterS === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterS))) }),
    },
    body: JSON.stringify(errorEnvelope(error, site)),
  };
}

/** Errors to answer in place of a framework's own, by its HTTP status; other statuses follow {@link toGatewayError}. */
export type FrameworkErrors = Readonly<Partial<Record<number, { status: ErrorStatus } & ErrorFacts>>>;

const NOT_WELL_FORMED: ErrorFacts = { details: 'the request is not well-formed' };

/**
 * Maps any thrown value to an error of the table. Client errors of Nest (`getStatus()`) and Fastify (`statusCode`)
 * become 413 or 400, everything else 502. The thrown error's own text is never shown; it is kept as the cause.
 */
export function toGatewayError(thrown: unknown, known: FrameworkErrors = {}): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const found = statusOf(thrown);
  const listed = known[found];
  if (listed) return new GatewayError(listed.status, listed, { cause: thrown });
  if (found === 413) return new GatewayError(413, {}, { cause: thrown });
  if (found >= 400 && found < 500) return new GatewayError(400, NOT_WELL_FORMED, { cause: thrown });
  return new GatewayError(502, known[502] ?? {}, { cause: thrown });
}

function statusOf(thrown: unknown): number {
  if (typeof thrown !== 'object' || thrown === null) return 500;
  const status: unknown =
    'getStatus' in thrown && typeof thrown.getStatus === 'function'
      ? (thrown.getStatus as () => unknown)()
      : Reflect.get(thrown, 'statusCode');
  return typeof status === 'number' ? status : 500;
}
