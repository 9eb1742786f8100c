/** The error statuses of the API, each with its short text, its section on the errors page, and whether to retry. */
export const ERROR_TABLE = {
  400: { message: 'bad request', anchor: 'bad-request', retryable: false },
  401: { message: 'channel token missing or invalid', anchor: 'unauthorized', retryable: false },
  402: { message: 'channel is not billable', anchor: 'payment-required', retryable: false },
  403: { message: 'not permitted', anchor: 'forbidden', retryable: false },
  404: { message: 'not found', anchor: 'not-found', retryable: false },
  409: { message: 'conflict', anchor: 'conflict', retryable: false },
  413: { message: 'file exceeds the size limit', anchor: 'file-too-large', retryable: false },
  416: { message: 'range not satisfiable', anchor: 'range-not-satisfiable', retryable: false },
  429: { message: 'rate limit exceeded', anchor: 'rate-limit', retryable: true },
  501: { message: 'not implemented', anchor: 'not-implemented', retryable: false },
  502: { message: 'session runtime error', anchor: 'upstream-error', retryable: true },
  503: { message: 'channel is not connected', anchor: 'not-connected', retryable: true },
} as const;

export type ErrorStatus = keyof typeof ERROR_TABLE;

export function isErrorStatus(status: number): status is ErrorStatus {
  return Object.hasOwn(ERROR_TABLE, status);
}

/** What may accompany an error; everything in here is shown to the customer. */
export interface ErrorFacts {
  /** One sentence that helps; for 400 `<field>: <reason>`. */
  details?: string;
  /** Replaces the table's short text (501 names the endpoint, 404 what is missing). */
  message?: string;
  /** Whole seconds, at least 1: becomes the Retry-After header. */
  retryAfterS?: number;
}

/** An error with a status of the table and a text made for the customer. The only error that crosses apps. */
export class GatewayError extends Error {
  readonly details: string | undefined;
  readonly retryAfterS: number | undefined;

  constructor(
    readonly status: ErrorStatus,
    facts: ErrorFacts = {},
    options?: ErrorOptions,
  ) {
    super(facts.message ?? ERROR_TABLE[status].message, options);
    this.name = 'GatewayError';
    this.details = facts.details;
    this.retryAfterS = facts.retryAfterS;
  }
}

/** A GatewayError as a value, for queues that can carry only JSON. */
export interface ErrorReply {
  status: ErrorStatus;
  message: string;
  details?: string;
  retryAfterS?: number;
}

export function toErrorReply(error: GatewayError): ErrorReply {
  return {
    status: error.status,
    message: error.message,
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(error.retryAfterS === undefined ? {} : { retryAfterS: error.retryAfterS }),
  };
}

/** A status that this version does not know (of a later one) is 502: what happened is not known here. */
export function fromErrorReply(reply: ErrorReply): GatewayError {
  if (!isErrorStatus(reply.status)) return new GatewayError(502, { details: 'the answer is of a later version' });
  return new GatewayError(reply.status, reply);
}

/** Address of an installation's documentation, and of its support. */
export interface Site {
  /** No trailing slash. */
  docsUrl: string;
  supportAddress: string;
}

/** The body of every failure. */
export interface ErrorEnvelope {
  error: { code: ErrorStatus; message: string; details?: string; href: string; support: string };
}

/** The envelope of an error. */
export function errorEnvelope(error: GatewayError, site: Site): ErrorEnvelope {
  return {
    error: {
      code: error.status,
      message: error.message,
      ...(error.details === undefined ? {} : { details: error.details }),
      href: `${site.docsUrl}/errors#${ERROR_TABLE[error.status].anchor}`,
      support: site.supportAddress,
    },
  };
}
