// What is stored. Names with underscores are the API's own and go on the wire as they are; names in camel case are the
// simulator's and are left out by the views.
import type { Billed } from '../money/proration.js';
import type { Cadence } from '../money/periods.js';

import type { Base, Metadata } from './base-record.js';
import type { CheckoutSession, PortalConfiguration, PortalSession } from './page-records.js';
import type { Delivery, KeptAnswer, SimulatorState } from './simulator-records.js';

export type { Metadata, ProrationBehavior } from './base-record.js';
export type * from './page-records.js';
export type * from './simulator-records.js';

export interface Address {
  city: string | null;
  country: string | null;
  line1: string | null;
  line2: string | null;
  postal_code: string | null;
  state: string | null;
}

export interface Customer extends Base {
  object: 'customer';
  address: Address | null;
  /** Cents; below zero: credit that the next invoice uses. */
  balance: number;
  currency: string | null;
  description: string | null;
  email: string | null;
  name: string | null;
  phone: string | null;
  metadata: Metadata;
  invoice_prefix: string;
  next_invoice_sequence: number;
  tax_exempt: string;
  test_clock: string | null;
  deleted?: true;
  defaultPaymentMethod: string | null;
  taxIds: { id: string; type: string; value: string; created: number }[];
  /** Milliseconds of the wall clock: search finds it a little later. */
  searchableAtMs: number;
}

export interface Product extends Base {
  object: 'product';
  active: boolean;
  description: string | null;
  metadata: Metadata;
  name: string;
  statement_descriptor: string | null;
  tax_code: string | null;
  unit_label: string | null;
  updated: number;
  url: string | null;
}

export interface Price extends Base {
  object: 'price';
  active: boolean;
  currency: string;
  lookup_key: string | null;
  metadata: Metadata;
  nickname: string | null;
  product: string;
  recurring: Cadence | null;
  tax_behavior: string;
  unit_amount: number;
}

export interface PaymentMethod extends Base {
  object: 'payment_method';
  customer: string | null;
  metadata: Metadata;
  cardToken: string;
  email: string | null;
  payments: number;
}

export interface SubscriptionItem {
  id: string;
  created: number;
  current_period_end: number;
  current_period_start: number;
  metadata: Metadata;
  price: string;
  quantity: number;
  billed: Billed | undefined;
}

/** What an update would change once its invoice is paid. */
export interface PendingUpdate {
  expires_at: number;
  items: SubscriptionItem[];
  invoice: string;
}

export type PauseReason =
  'final_payment_failure' | 'first_payment_failure' | 'pause_requested' | 'trial_end_without_payment_method';

export interface Subscription extends Base {
  object: 'subscription';
  billing_cycle_anchor: number;
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  canceled_at: number | null;
  cancellation_details: { comment: string | null; feedback: string | null; reason: string | null };
  currency: string;
  customer: string;
  default_payment_method: string | null;
  description: string | null;
  ended_at: number | null;
  latest_invoice: string | null;
  metadata: Metadata;
  start_date: number;
  status: string;
  test_clock: string | null;
  trial_end: number | null;
  trial_start: number | null;
  items: SubscriptionItem[];
  pendingUpdate: PendingUpdate | null;
  paused: { reason: PauseReason; since: number } | null;
  missingPaymentMethod: 'cancel' | 'create_invoice' | 'pause';
  /** A paused subscription whose resumption waits for this invoice. */
  resumption: { invoice: string; expiresAt: number } | null;
}

export interface InvoiceLine {
  id: string;
  amount: number;
  currency: string;
  description: string;
  period: { start: number; end: number };
  price: string;
  quantity: number;
  isProration: boolean;
  subscription: string | null;
  subscriptionItem: string | null;
  /** A pending item that this line came from. */
  invoiceItem: string | null;
}

/** A line that waits for the customer's next invoice. */
export interface PendingItem extends Base {
  object: 'invoiceitem';
  customer: string;
  line: InvoiceLine;
}

export type InvoicePurpose = 'create' | 'cycle' | 'update' | 'pending_update' | 'resume' | 'final';

export interface Invoice extends Base {
  object: 'invoice';
  amount_due: number;
  amount_paid: number;
  attempt_count: number;
  attempted: boolean;
  auto_advance: boolean;
  automatically_finalizes_at: number | null;
  billing_reason: string;
  currency: string;
  customer: string;
  ending_balance: number | null;
  hosted_invoice_url: string | null;
  metadata: Metadata;
  next_payment_attempt: number | null;
  number: string | null;
  period_end: number;
  period_start: number;
  post_payment_credit_notes_amount: number;
  pre_payment_credit_notes_amount: number;
  starting_balance: number;
  status: 'draft' | 'open' | 'paid' | 'uncollectible' | 'void';
  status_transitions: {
    finalized_at: number | null;
    marked_uncollectible_at: number | null;
    paid_at: number | null;
    voided_at: number | null;
  };
  test_clock: string | null;
  total: number;
  lines: InvoiceLine[];
  subscription: string | null;
  subscriptionMetadata: Metadata;
  prorationDate: number | null;
  purpose: InvoicePurpose;
  /** Part of the address of its page. */
  pageToken: string;
  paymentIntent: string | null;
}

export interface PaymentIntent extends Base {
  object: 'payment_intent';
  amount: number;
  amount_received: number;
  canceled_at: number | null;
  client_secret: string;
  currency: string;
  customer: string;
  last_payment_error: Record<string, string> | null;
  latest_charge: string | null;
  metadata: Metadata;
  payment_method: string | null;
  status: 'requires_payment_method' | 'requires_action' | 'succeeded' | 'canceled';
  invoice: string;
}

/** The tie between an invoice and what pays it. */
export interface InvoicePayment extends Base {
  object: 'invoice_payment';
  amount_paid: number | null;
  amount_requested: number;
  currency: string;
  invoice: string;
  status: 'open' | 'paid' | 'canceled';
  status_transitions: { canceled_at: number | null; paid_at: number | null };
  paymentIntent: string;
}

export interface Charge extends Base {
  object: 'charge';
  amount: number;
  amount_refunded: number;
  currency: string;
  customer: string;
  failure_code: string | null;
  failure_message: string | null;
  metadata: Metadata;
  paid: boolean;
  payment_intent: string;
  payment_method: string;
  refunded: boolean;
  status: 'succeeded' | 'failed';
}

export interface Refund extends Base {
  object: 'refund';
  amount: number;
  charge: string;
  currency: string;
  customer: string;
  metadata: Metadata;
  payment_intent: string;
  reason: string | null;
  status: 'succeeded';
}

export interface CreditNote extends Base {
  object: 'credit_note';
  amount: number;
  currency: string;
  customer: string;
  invoice: string;
  memo: string | null;
  metadata: Metadata;
  number: string;
  out_of_band_amount: number | null;
  post_payment_amount: number;
  pre_payment_amount: number;
  reason: string | null;
  refunds: { amount_refunded: number; refund: string }[];
}

export interface WebhookEndpoint extends Base {
  object: 'webhook_endpoint';
  api_version: string | null;
  description: string | null;
  enabled_events: string[];
  metadata: Metadata;
  status: 'enabled' | 'disabled';
  url: string;
  /** The newest one signs first; an earlier one signs along until its end (milliseconds of the wall clock). */
  secrets: { secret: string; untilMs: number | null }[];
}

export interface StripeEvent extends Base {
  object: 'event';
  api_version: string;
  data: { object: object; previous_attributes?: object };
  request: { id: string | null; idempotency_key: string | null };
  type: string;
}

export interface TestClock extends Base {
  object: 'test_helpers.test_clock';
  deletes_after: number;
  frozen_time: number;
  name: string | null;
  status: 'ready' | 'advancing';
  target: number | null;
}

export interface Records {
  customers: Customer;
  products: Product;
  prices: Price;
  paymentMethods: PaymentMethod;
  subscriptions: Subscription;
  pendingItems: PendingItem;
  invoices: Invoice;
  paymentIntents: PaymentIntent;
  invoicePayments: InvoicePayment;
  charges: Charge;
  refunds: Refund;
  creditNotes: CreditNote;
  checkoutSessions: CheckoutSession;
  portalConfigurations: PortalConfiguration;
  portalSessions: PortalSession;
  webhookEndpoints: WebhookEndpoint;
  events: StripeEvent;
  deliveries: Delivery;
  testClocks: TestClock;
  keptAnswers: KeptAnswer;
  simulator: SimulatorState;
}
export type Kind = keyof Records;
export type AnyRecord = Records[Kind];
