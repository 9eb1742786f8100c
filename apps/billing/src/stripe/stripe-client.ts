/**
 * The client of Stripe, and what its failures mean.
 *
 * What it guarantees: no call takes longer than its timeout and two retries, each under the idempotency key of the first;
 * whatever shows nothing about the request itself (no connection, a timeout, 409, 429, 5xx, a key that Stripe does not
 * take) is one error, {@link StripeAwayError}, and leaves as 503 with `Retry-After`. Keys and addresses of pages are in no message.
 */
import { GatewayError } from '@dormouse/gateway-contract';
import { Stripe } from 'stripe';
import { Pace } from './pace.js';

export interface StripeAccess {
  secretKey: string;
  /** Where Stripe is; absent: Stripe itself. */
  apiUrl?: string;
  /** Of one attempt. */
  timeoutMs: number;
  /** Absent: unbounded. What nobody waits for is sent at a bounded rate, evenly spaced. */
  requestsPerSecond?: number;
}

const RETRIES = 2;
/** Nothing is wrong with the request: the key is not taken, another call holds the object, too many calls. */
const AWAY_STATUSES = new Set([401, 403, 409, 429]);
const RETRY_AFTER_S = 5;

/** Opens the client. It connects at the first call. */
export function openStripe({ secretKey, apiUrl, timeoutMs, requestsPerSecond }: StripeAccess): Stripe {
  return new Stripe(secretKey, {
    ...(apiUrl === undefined ? {} : placeOf(apiUrl)),
    ...(requestsPerSecond === undefined ? {} : { httpClient: pacedClient(requestsPerSecond) }),
    timeout: timeoutMs,
    maxNetworkRetries: RETRIES,
    telemetry: false,
  });
}

function pacedClient(requestsPerSecond: number): ReturnType<typeof Stripe.createNodeHttpClient> {
  const pace = new Pace(requestsPerSecond);
  const client = Stripe.createNodeHttpClient();
  const send = client.makeRequest.bind(client);
  client.makeRequest = async (...request: Parameters<typeof send>) => {
    await pace.next();
    return send(...request);
  };
  return client;
}

function placeOf(apiUrl: string): { host: string; port: number; protocol: 'http' | 'https' } {
  const { protocol, hostname, port } = new URL(apiUrl);
  const isPlain = protocol === 'http:';
  return {
    host: hostname,
    port: port === '' ? (isPlain ? 80 : 443) : Number(port),
    protocol: isPlain ? 'http' : 'https',
  };
}

/** A secret key of Stripe's test mode, or of a simulated Stripe. */
export function isTestKey(secretKey: string): boolean {
  return !/^(?:sk|rk)_live_/.test(secretKey);
}

/** Stripe could not be reached or could not answer: the same request may succeed later, and may have been carried out. */
export class StripeAwayError extends GatewayError {
  constructor(cause: unknown) {
    super(
      503,
      {
        message: 'the payment provider does not answer',
        details: 'nothing is lost; repeat the request in a moment',
        retryAfterS: RETRY_AFTER_S,
      },
      { cause },
    );
    this.name = 'StripeAwayError';
  }
}

/** Stripe answered and refused. `code` is Stripe's own, such as `resource_missing` or `card_declined`. */
export class StripeRefusedError extends Error {
  constructor(
    readonly status: number | undefined,
    readonly code: string | undefined,
    readonly param: string | undefined,
    cause: unknown,
  ) {
    super(`Stripe refused: ${String(status)} ${code ?? 'no code'}${param === undefined ? '' : ` (${param})`}`, {
      cause,
    });
    this.name = 'StripeRefusedError';
  }

  get isMissing(): boolean {
    return this.status === 404 || this.code === 'resource_missing';
  }
}

/**
 * Makes a call of Stripe.
 * @throws {StripeAwayError} when nothing is known about the request itself
 * @throws {StripeRefusedError} when Stripe refused it
 */
export async function atStripe<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw failureOf(error);
  }
}

function failureOf(error: unknown): unknown {
  if (!(error instanceof Stripe.errors.StripeError)) return error;
  const { statusCode, code, param } = error;
  const isAway =
    error instanceof Stripe.errors.StripeConnectionError ||
    statusCode === undefined ||
    statusCode >= 500 ||
    AWAY_STATUSES.has(statusCode);
  return isAway ? new StripeAwayError(error) : new StripeRefusedError(statusCode, code, param, error);
}

/** Whether Stripe did answer a failed call, with 5xx: it keeps that answer under the call's idempotency key. */
export function isKeptFailure(error: unknown): boolean {
  const cause = error instanceof StripeAwayError ? error.cause : undefined;
  return cause instanceof Stripe.errors.StripeError && (cause.statusCode ?? 0) >= 500;
}
