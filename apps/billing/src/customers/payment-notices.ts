/**
 * Which mails the state of an account's payments causes. Pure.
 *
 * What it guarantees: each mail has a reason made of the invoice that it is about, so that it is sent once for it however often
 * the state is read; "served again" follows "numbers stopped" and nothing else.
 */
import type { Mail } from '@dormouse/mail-outbox';
import type { CustomerFacts, OpenInvoice } from './subscription-facts.js';

/** How long before its end the end of grace is announced. */
const GRACE_ENDING_MS = 24 * 3_600_000;

export interface PaymentState {
  accountId: string;
  facts: CustomerFacts;
  /** Numbers that are paid for, and are stopped when payment fails for good. */
  coveredNumbers: number;
  graceMs: number;
  nowMs: number;
  /** For which invoice or subscription the numbers were stopped, as it was stored last; null: they are served. */
  stoppedFor: string | null;
}

export interface Notices {
  mails: Mail[];
  stoppedFor: string | null;
  /** When the clock alone causes the next mail; null: never. */
  nextAtMs: number | null;
}

/** Statuses in which payment failed for good. */
const STOPPED = new Set(['unpaid']);
const IN_ORDER = new Set(['active', 'trialing']);

export function paymentNotices(state: PaymentState): Notices {
  const { accountId, facts, coveredNumbers, graceMs, nowMs, stoppedFor } = state;
  const { subscription } = facts;
  const [invoice] = facts.overdue;
  const to = { accountId, audience: 'billing' } as const;
  if (!subscription) return { mails: [], stoppedFor, nextAtMs: null };
  const mails: Mail[] = [];
  const isPastDue = subscription.status === 'past_due';
  const graceEndMs = isPastDue && invoice ? invoice.finalizedAt * 1_000 + graceMs : null;
  const inGrace = graceEndMs !== null && nowMs < graceEndMs;
  if (invoice && (isPastDue || isStopped(facts))) {
    mails.push({
      kind: 'payment-failed',
      to,
      reason: `payment-failed:${invoice.id}`,
      data: { amount: amountText(invoice), graceEndsAt: inGrace ? isoOf(graceEndMs) : null, invoiceLink: invoice.url },
    });
  }
  if (invoice && inGrace && nowMs >= graceEndMs - GRACE_ENDING_MS) {
    const data = { graceEndsAt: isoOf(graceEndMs), invoiceLink: invoice.url };
    mails.push({ kind: 'grace-ending', to, reason: `grace-ending:${invoice.id}`, data });
  }
  if (coveredNumbers > 0 && (isStopped(facts) || (graceEndMs !== null && !inGrace))) {
    const about = stoppedFor ?? invoice?.id ?? subscription.id;
    const data = { numbers: coveredNumbers, invoiceLink: invoice?.url ?? null };
    mails.push({ kind: 'numbers-stopped', to, reason: `numbers-stopped:${about}`, data });
    return { mails, stoppedFor: about, nextAtMs: null };
  }
  if (stoppedFor !== null && IN_ORDER.has(subscription.status)) {
    mails.push({ kind: 'served-again', to, reason: `served-again:${stoppedFor}`, data: { numbers: coveredNumbers } });
    return { mails, stoppedFor: null, nextAtMs: null };
  }
  return { mails, stoppedFor, nextAtMs: inGrace ? nextGraceMs(graceEndMs, nowMs) : null };
}

function isStopped({ subscription }: CustomerFacts): boolean {
  return (
    subscription !== null &&
    (STOPPED.has(subscription.status) ||
      (subscription.status === 'paused' && subscription.pausedKind === 'payment_failed'))
  );
}

function nextGraceMs(graceEndMs: number, nowMs: number): number {
  const announcedMs = graceEndMs - GRACE_ENDING_MS;
  return nowMs < announcedMs ? announcedMs : graceEndMs;
}

/** Such as `4.00 USD`. Amounts of Stripe are in the smallest unit of their currency. */
export function amountText({ amountDue, currency }: Pick<OpenInvoice, 'amountDue' | 'currency'>): string {
  const code = currency.toUpperCase();
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency: code });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  return `${(amountDue / 10 ** digits).toFixed(digits)} ${code}`;
}

const isoOf = (ms: number): string => new Date(ms).toISOString();
