import { errorEnvelope, GatewayError, type ErrorFacts, type ErrorStatus, type Site } from './errors.js';

/** A failure as HTTP. */
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

/** What to say of a framework's error with this HTTP status; a status that is not named is told as the table has it. */
export type FrameworkErrors = Readonly<Partial<Record<number, { status: ErrorStatus } & ErrorFacts>>>;

const NOT_WELL_FORMED: ErrorFacts = { details: 'the request is not well-formed' };

/**
 * The error of the table that a thrown thing amounts to. Client errors of Nest (`getStatus()`) and Fastify (`statusCode`)
 * become 413 or 400, the rest 502. Nothing of its own text is shown; it stays as the cause.
 */
export function toGatewayError(thrown: unknown, known: FrameworkErrors = {}): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const found = statusOf(thrown);
  const told = known[found];
  if (told) return new GatewayError(told.status, told, { cause: thrown });
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
