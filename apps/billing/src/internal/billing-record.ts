import type { BillingRecord, OpenPayment } from '@dormouse/management-contract';
import type { BillingAccountRow } from '../customers/billing-accounts.js';
import { isRunning, type CustomerFacts, type SubscriptionFacts } from '../customers/subscription-facts.js';

export interface RecordTerms {
  /** Of a further number for a month, as it is configured. */
  price: { amount: number; currency: string };
  graceMs: number;
}

const CHARGED = new Set(['active', 'trialing', 'past_due']);

/** The stored facts of an account as they are shown. Pure: Stripe need not be there. */
export function billingRecordOf(
  row: BillingAccountRow | undefined,
  counts: { numbers: number; free: number },
  terms: RecordTerms,
): BillingRecord {
  const subscription = row?.facts?.subscription;
  const running = subscription && isRunning(subscription) ? subscription : undefined;
  return {
    plan: running ? 'paid' : 'free',
    status: row?.subscription_status ?? null,
    ...counts,
    bought: running?.bought ?? 0,
    limit: row?.buy_limit ?? 0,
    price: running ? { amount: running.unitAmount, currency: running.currency } : terms.price,
    period_end: running?.periodEnd ?? null,
    cancel_at_period_end: running?.cancelAtPeriodEnd ?? false,
    next_invoice: running ? nextInvoice(running) : null,
    open: row?.facts ? openPayments(row.facts, terms.graceMs) : [],
  };
}

function nextInvoice(subscription: SubscriptionFacts): BillingRecord['next_invoice'] {
  const { status, cancelAtPeriodEnd, periodEnd, quantity, unitAmount, currency } = subscription;
  if (!CHARGED.has(status) || cancelAtPeriodEnd || quantity === 0) return null;
  return { at: periodEnd, numbers: quantity, amount: quantity * unitAmount, currency };
}

function openPayments({ overdue, pendingInvoice, subscription }: CustomerFacts, graceMs: number): OpenPayment[] {
  const renewals = overdue.map(({ amountDue, currency, url, finalizedAt }) => ({
    kind: 'renewal' as const,
    amount: amountDue,
    currency,
    url,
    until: finalizedAt + Math.floor(graceMs / 1_000),
  }));
  if (!pendingInvoice) return renewals;
  const { amountDue: amount, currency, url } = pendingInvoice;
  return [...renewals, { kind: 'numbers', amount, currency, url, until: subscription?.pending?.expiresAt ?? null }];
}
