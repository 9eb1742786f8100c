/**
 * What must hold whenever billing is at rest, worked out from Stripe's objects and the numbers that exist, without any code or table
 * of billing: each number has the standing that its place and the payments give it, the next period is charged for the numbers
 * that there are, and nobody paid twice for the same.
 */
import type { Standing } from '@dormouse/channel-directory';
import type { Stripe } from 'stripe';
import { GRACE_MS, LIMIT, type MoneyRun, type TestAccount } from './test-money-run.js';

const PRICE = 400;

/** What an account had when it was looked at last. */
interface Seen {
  periodEnd: number;
  bought: number;
  /** Ids of the invoices that were paid by then. */
  paid: Set<string>;
}

export class MoneyOracle {
  readonly #seen = new Map<string, Seen>();
  /** Paid invoices that were checked. */
  invoices = 0;
  /** Statuses of subscriptions that were met. */
  readonly statuses = new Set<string>();

  constructor(private readonly run: MoneyRun) {}

  /** What is wrong, in sentences. */
  async faults(): Promise<string[]> {
    const faults = await Promise.all(this.run.accounts.map((account) => this.#faultsOf(account)));
    return faults.flat();
  }

  async #faultsOf(account: TestAccount): Promise<string[]> {
    const { running } = this.run;
    const customer = await running.customerOf(account.id);
    const { data: all } = await running.stripe.subscriptions.list({ customer, status: 'all', limit: 100 });
    const { data: invoices } = await running.stripe.invoices.list({ customer, limit: 100 });
    const [subscription, ...others] = all.filter(({ status }) => status !== 'canceled');
    if (others.length > 0) return [`${account.id}: has ${all.length} subscriptions`];
    this.statuses.add(subscription?.status ?? 'canceled');
    const bought = subscription ? placesOf(subscription) : 0;
    return [
      ...(await this.#standingFaults(account, subscription, bought, invoices)),
      ...quantityFaults(account, subscription, bought),
      ...this.#invoiceFaults(account, subscription, bought, invoices),
    ];
  }

  async #standingFaults(
    { id: accountId, numbers }: TestAccount,
    subscription: Stripe.Subscription | undefined,
    bought: number,
    invoices: readonly Stripe.Invoice[],
  ): Promise<string[]> {
    const covered = coveredStanding(subscription, invoices, this.run.nowMs());
    const faults = await Promise.all(
      numbers.map(async ({ id, region }, index) => {
        const expected: Standing = index === 0 ? 'good' : index <= bought ? covered : 'over_free_allowance';
        const actual = (await region.directory.byId(id))?.standing;
        return actual === expected ? [] : [`${accountId}: number ${index + 1} is ${String(actual)}, not ${expected}`];
      }),
    );
    return faults.flat();
  }

  /** A period is paid once; within a period only places that were not there before are paid, and no more than they cost. */
  #invoiceFaults(
    { id: accountId }: TestAccount,
    subscription: Stripe.Subscription | undefined,
    bought: number,
    invoices: readonly Stripe.Invoice[],
  ): string[] {
    const paid = invoices.filter(({ status, amount_paid: amount }) => status === 'paid' && amount > 0);
    this.invoices += paid.length;
    const cycles = paid.filter(({ billing_reason: reason }) => reason === 'subscription_cycle');
    const periods = cycles.map(({ lines }) => Math.max(...lines.data.map(({ period }) => period.start)));
    const faults = new Set(periods).size === periods.length ? [] : [`${accountId}: a period was paid twice`];
    const before = this.#seen.get(accountId);
    const periodEnd = subscription?.items.data[0]?.current_period_end ?? 0;
    if (before?.periodEnd === periodEnd) {
      const news = paid.filter(
        ({ id, billing_reason: reason }) => !before.paid.has(id) && reason === 'subscription_update',
      );
      const charged = news.reduce((sum, { amount_paid: amount }) => sum + amount, 0);
      const places = Math.max(0, bought - before.bought);
      if (charged > places * PRICE)
        faults.push(
          `${accountId}: was charged ${charged} cents for ${places} places: ${invoices.map(textOf).join('; ')}`,
        );
      if (charged === 0 && places > 0) faults.push(`${accountId}: has ${places} places that were not charged`);
    }
    this.#seen.set(accountId, { periodEnd, bought, paid: new Set(paid.map(({ id }) => id)) });
    return faults;
  }
}

/** An invoice, for the message of a failure. */
function textOf({ id, status, billing_reason: reason, amount_paid: amount, created, lines }: Stripe.Invoice): string {
  const parts = lines.data.map((line) => `${line.quantity} x ${line.amount}`);
  return `${id} ${String(status)} ${String(reason)} ${amount} at ${created} (${parts.join(', ')})`;
}

/** Places that are paid for in this period. */
function placesOf({ items, metadata }: Stripe.Subscription): number {
  const [item] = items.data;
  const kept = Number(metadata['paid_until']) === item?.current_period_end ? Number(metadata['paid_places']) : 0;
  return Math.max(item?.quantity ?? 0, kept);
}

function coveredStanding(
  subscription: Stripe.Subscription | undefined,
  invoices: readonly Stripe.Invoice[],
  nowMs: number,
): Standing {
  switch (subscription?.status) {
    case 'active':
      return 'good';
    case 'past_due': {
      const open = invoices.filter(({ status }) => status === 'open');
      const oldestMs = Math.min(...open.map(({ status_transitions: at }) => (at.finalized_at ?? 0) * 1_000));
      return nowMs < oldestMs + GRACE_MS ? 'good' : 'past_due';
    }
    case 'unpaid':
      return 'past_due';
    default:
      return 'over_free_allowance';
  }
}

function quantityFaults(
  { id, numbers }: TestAccount,
  subscription: Stripe.Subscription | undefined,
  bought: number,
): string[] {
  if (subscription?.status !== 'active' || subscription.pending_update) return [];
  const further = Math.max(0, numbers.length - 1);
  const quantity = subscription.items.data[0]?.quantity ?? 0;
  const expected = Math.min(further, bought);
  const faults = quantity === expected ? [] : [`${id}: the next period has ${quantity} places, not ${expected}`];
  // What the card pays for is bought up to the limit; a card that fails buys nothing.
  return bought > LIMIT ? [...faults, `${id}: has ${bought} places, beyond its limit`] : faults;
}
