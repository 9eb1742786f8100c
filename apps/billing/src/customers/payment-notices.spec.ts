import { amountText, paymentNotices, type PaymentState } from './payment-notices.js';
import type { CustomerFacts, SubscriptionFacts } from './subscription-facts.js';

const DAY_MS = 86_400_000;
const FAILED_AT_S = 1_800_000_000;
const invoice = { id: 'in_1', url: 'https://pay.test/in_1', amountDue: 800, currency: 'usd', finalizedAt: FAILED_AT_S };

function facts(changed: Partial<SubscriptionFacts>, overdue = [invoice]): CustomerFacts {
  const subscription: SubscriptionFacts = {
    id: 'sub_1',
    itemId: 'si_1',
    status: 'past_due',
    pausedKind: null,
    quantity: 2,
    bought: 2,
    unitAmount: 400,
    currency: 'usd',
    periodStart: FAILED_AT_S,
    periodEnd: FAILED_AT_S + 2_592_000,
    created: 1,
    cancelAtPeriodEnd: false,
    pending: null,
    paymentMethod: 'pm_1',
    customerPaymentMethod: null,
    ...changed,
  };
  return { subscription, overdue, pendingInvoice: null, duplicates: [] };
}

function notices(changed: Partial<PaymentState> & { afterMs?: number }) {
  const { afterMs = 0, ...state } = changed;
  const nowMs = FAILED_AT_S * 1_000 + afterMs;
  return paymentNotices({
    accountId: 'acc_1',
    facts: facts({}),
    coveredNumbers: 2,
    graceMs: 3 * DAY_MS,
    nowMs,
    stoppedFor: null,
    ...state,
  });
}

const reasons = ({ mails }: ReturnType<typeof notices>): string[] => mails.map(({ reason }) => reason);

describe('paymentNotices', () => {
  it('announces a failed payment at once, and looks again a day before grace ends', () => {
    const first = notices({});
    expect(reasons(first)).toEqual(['payment-failed:in_1']);
    expect(first.mails[0]).toMatchObject({
      to: { accountId: 'acc_1', audience: 'billing' },
      data: { amount: '8.00 USD', invoiceLink: invoice.url },
    });
    expect(first.nextAtMs).toBe(FAILED_AT_S * 1_000 + 2 * DAY_MS);
  });

  it('announces the end of grace a day before, then that numbers were stopped, each under one reason', () => {
    const soon = notices({ afterMs: 2 * DAY_MS });
    expect(reasons(soon)).toEqual(['payment-failed:in_1', 'grace-ending:in_1']);
    expect(soon.nextAtMs).toBe(FAILED_AT_S * 1_000 + 3 * DAY_MS);
    const over = notices({ afterMs: 3 * DAY_MS });
    expect(reasons(over)).toEqual(['payment-failed:in_1', 'numbers-stopped:in_1']);
    expect(over.stoppedFor).toBe('in_1');
  });

  it.each([
    ['unpaid', facts({ status: 'unpaid' })],
    ['paused for a failed payment', facts({ status: 'paused', pausedKind: 'payment_failed' })],
  ])('announces that numbers were stopped when the subscription is %s', (_, stopped) => {
    expect(reasons(notices({ facts: stopped }))).toContain('numbers-stopped:in_1');
  });

  it('notifies that numbers are served again only after it notified that they were stopped', () => {
    const paid = facts({ status: 'active' }, []);
    expect(notices({ facts: paid })).toMatchObject({ mails: [], stoppedFor: null });
    const again = notices({ facts: paid, stoppedFor: 'in_1' });
    expect(reasons(again)).toEqual(['served-again:in_1']);
    expect(again.stoppedFor).toBeNull();
  });

  it('sends nothing about an account that pauses on request, or whose status is unknown', () => {
    expect(notices({ facts: facts({ status: 'paused', pausedKind: 'requested' }, []) }).mails).toEqual([]);
    expect(notices({ facts: facts({ status: 'a status of tomorrow' }, []) }).mails).toEqual([]);
  });
});

describe('amountText', () => {
  it('has the digits of its currency', () => {
    expect(amountText({ amountDue: 400, currency: 'usd' })).toBe('4.00 USD');
    expect(amountText({ amountDue: 400, currency: 'jpy' })).toBe('400 JPY');
    expect(amountText({ amountDue: 1_234, currency: 'kwd' })).toBe('1.234 KWD');
  });
});
