/**
 * Events that Stripe posts.
 *
 * What it guarantees: only what one of the configured secrets signed within the last five minutes is believed to be from Stripe,
 * checked on the raw bytes. While a secret is rotated both are valid. Nothing of the event but its id, type, time and customer
 * is used: the facts are read from Stripe.
 */
import { GatewayError } from '@dormouse/gateway-contract';
import { Stripe } from 'stripe';
import { idOf } from '../customers/subscription-facts.js';
import type { ReceivedEvent } from './stripe-events.js';

export interface WebhookTerms {
  /** The current secret first. */
  secrets: readonly string[];
  /** Whether this installation uses a key of Stripe's test mode. */
  isTest: boolean;
}

/**
 * Verifies a webhook.
 * @param signature the header `Stripe-Signature`
 * @throws {GatewayError} 400
 */
export function readSignedEvent(
  stripe: Pick<Stripe, 'webhooks'>,
  { secrets, isTest }: WebhookTerms,
  body: unknown,
  signature: string | string[] | undefined,
): ReceivedEvent {
  if (typeof signature !== 'string') throw refused('Stripe-Signature: must be there, once');
  if (!Buffer.isBuffer(body)) throw refused('body: must be the bytes that were signed');
  const event = verified(stripe, secrets, body, signature);
  if (event.livemode === isTest) {
    const [given, taken] = isTest ? ['live', 'test'] : ['test', 'live'];
    throw refused(`body: this is an event of ${given} mode, and this installation takes those of ${taken} mode`);
  }
  return { id: event.id, type: event.type, customerId: customerOf(event), created: new Date(event.created * 1_000) };
}

function verified(stripe: Pick<Stripe, 'webhooks'>, secrets: readonly string[], body: Buffer, signature: string) {
  for (const secret of secrets) {
    try {
      return stripe.webhooks.constructEvent(body, signature, secret);
    } catch (error) {
      if (error instanceof Stripe.errors.StripeSignatureVerificationError) continue;
      throw refused('body: not an event of Stripe', error);
    }
  }
  throw refused('Stripe-Signature: not by a secret of this endpoint, or older than five minutes');
}

/** Of nearly every event: its object's customer; of events about customers, the object itself. */
function customerOf({ type, data }: Stripe.Event): string | null {
  const object: unknown = data.object;
  if (typeof object !== 'object' || object === null) return null;
  const customer: unknown = Reflect.get(object, type.startsWith('customer.') && isCustomer(object) ? 'id' : 'customer');
  if (typeof customer === 'string') return customer;
  return typeof customer === 'object' && customer !== null && 'id' in customer ? idOf(String(customer.id)) : null;
}

function isCustomer(object: object): boolean {
  return Reflect.get(object, 'object') === 'customer';
}

function refused(details: string, cause?: unknown): GatewayError {
  return new GatewayError(400, { details }, { cause });
}
