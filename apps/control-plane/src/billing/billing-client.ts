/**
 * Calls of billing, the only process that knows Stripe.
 *
 * What it guarantees: an answer has the shape of the contract, a failure of billing comes through as it is (its status, sentence
 * and `Retry-After`), and billing that is away, late or strange is 503; every other part of this process goes on without it.
 * The secret and the addresses of pages are in no log and no error.
 */
import { GatewayError, isErrorStatus } from '@dormouse/gateway-contract';
import {
  BILLING_CALL_PREFIX,
  BILLING_CALLS,
  errorBody,
  type BillingCallAnswer,
  type BillingCallBody,
  type BillingCallName,
} from '@dormouse/management-contract';
import { inSpan } from '@dormouse/traces';
import { request } from 'undici';

export interface BillingAddress {
  url: string;
  secret: string;
  /** Of a whole call; Stripe itself may take seconds. */
  timeoutMs: number;
}

const RETRY_AFTER_S = 5;

export class BillingClient {
  constructor(private readonly address: BillingAddress) {}

  /** @throws {GatewayError} what billing answered; 503 while it is away */
  async call<Name extends BillingCallName>(name: Name, body: BillingCallBody<Name>): Promise<BillingCallAnswer<Name>> {
    const facts = { 'http.request.method': 'POST', 'server.address': new URL(this.address.url).hostname };
    const { status, retryAfter, answer } = await inSpan('POST', { kind: 'client', facts }, async (span) => {
      const { traceparent } = span;
      const answered = await this.#post(name, body, traceparent === undefined ? {} : { traceparent });
      span.add({ 'http.response.status_code': answered.status });
      if (answered.status >= 400) span.fail(String(answered.status));
      return answered;
    });
    if (status !== 200) throw failureOf(status, retryAfter, answer);
    const parsed = BILLING_CALLS[name].answer.safeParse(answer);
    if (!parsed.success) throw away(parsed.error);
    return parsed.data as BillingCallAnswer<Name>;
  }

  async #post(name: BillingCallName, body: object, ofTrace: { traceparent?: string }) {
    const { url, secret, timeoutMs } = this.address;
    try {
      const response = await request(`${url}${BILLING_CALL_PREFIX}/${name}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...ofTrace },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const answer: unknown = await response.body.json();
      return { status: response.statusCode, retryAfter: Number(response.headers['retry-after']), answer };
    } catch (error) {
      throw away(error);
    }
  }
}

function failureOf(status: number, retryAfter: number, answer: unknown): GatewayError {
  const envelope = errorBody.safeParse(answer);
  // 401 and 502 are faults between the two processes, not of the request.
  if (!envelope.success || !isErrorStatus(status) || status === 401 || status === 502) {
    return away(new Error(`billing answered ${status}`));
  }
  const { message, details } = envelope.data.error;
  return new GatewayError(status, {
    message,
    ...(details === undefined ? {} : { details }),
    ...(retryAfter > 0 ? { retryAfterS: retryAfter } : {}),
  });
}

function away(cause: unknown): GatewayError {
  return new GatewayError(
    503,
    {
      message: 'billing does not answer',
      details: 'nothing is lost, and every number goes on as it is; repeat the request in a moment',
      retryAfterS: RETRY_AFTER_S,
    },
    { cause },
  );
}
