/**
 * What must hold, worked out from Stripe's objects and the numbers that exist, without any code or table of billing.
 *
 * Always, also while billing is dead: every charge is that of one invoice, no invoice was charged twice, a period costs an account
 * no more than the most places that it needed in it, and no number that is paid for is refused.
 * At rest in addition: each number has the standing that its place and the payments give it, and the next period is charged for the
 * numbers that there are.
 */
import type { Standing } from '@dormouse/channel-directory';
import type { Stripe } from 'stripe';
import { LIMIT, type TestAccount } from './test-money-acts.js';
import { GRACE_MS, type MoneyRun } from './test-money-run.js';

const PRICE = 400;
const ENDED = new Set(['canceled', 'incomplete_expired']);

/** How many places an account needed at a time. */
interface Need {
  atMs: number;
  places: number;
}

/** What Stripe has of an account. */
interface Truth {
  account: TestAccount;
  subscription: Stripe.Subscription | undefined;
  running: number;
  bought: number;
  covered: Standing;
  invoices: Stripe.Invoice[];
  charges: Stripe.Charge[];
}

export class MoneyOracle {
  readonly #needs = new Map<string, Need[]>();
  /** Numbers that were good and paid for at the last rest, and paid for ever since. */
  #paidFor = new Set<string>();
  #restedAtMs: number[] = [];
  /** Paid invoices that were checked. */
  readonly invoices = new Set<string>();
  /** Statuses of subscriptions that were met. */
  readonly statuses = new Set<string>();

  constructor(private readonly run: MoneyRun) {}

  /** What is wrong, in sentences, whatever is under way. */
  async faults(): Promise<string[]> {
    this.#noteNeeds();
    return (await this.#each(async (truth) => [...this.#chargeFaults(truth), ...(await this.#refusals(truth))])).flat();
  }

  /** What is wrong when billing is at rest. */
  async faultsAtRest(): Promise<string[]> {
    this.#restedAtMs.push(this.run.nowMs());
    const faults = await this.faults();
    this.#paidFor = new Set();
    const found = await this.#each(async (truth) => {
      if (truth.running > 1) return [`${truth.account.id}: has ${truth.running} subscriptions`];
      return [...(await this.#standingFaults(truth)), ...quantityFaults(truth)];
    });
    return [...faults, ...found.flat()];
  }

  #each<T>(of: (truth: Truth) => Promise<T>): Promise<T[]> {
    return Promise.all(this.run.accounts.map(async (account) => of(await this.#truthOf(account))));
  }

  async #truthOf(account: TestAccount): Promise<Truth> {
    const { stripe } = this.run.running;
    const customer = await this.run.running.customerOf(account.id);
    const [{ data: all }, invoices, charges] = await Promise.all([
      stripe.subscriptions.list({ customer, status: 'all', limit: 100 }),
      stripe.invoices.list({ customer, limit: 100 }).autoPagingToArray({ limit: 1_000 }),
      stripe.charges.list({ customer, limit: 100 }).autoPagingToArray({ limit: 5_000 }),
    ]);
    const [subscription, ...others] = all.filter(({ status }) => !ENDED.has(status));
    this.statuses.add(subscription?.status ?? 'canceled');
    return {
      ...{ account, subscription, running: others.length + 1, invoices, charges },
      bought: subscription ? placesOf(subscription) : 0,
      covered: coveredStanding(subscription, invoices, this.run.nowMs()),
    };
  }

  #noteNeeds(): void {
    const atMs = this.run.nowMs();
    for (const { id, numbers, chosen } of this.run.accounts) {
      const places = Math.max(Math.min(LIMIT, numbers.length - 1), chosen);
      this.#needs.set(id, [...(this.#needs.get(id) ?? []), { atMs, places }]);
    }
  }

  #chargeFaults({ account, invoices, charges }: Truth): string[] {
    const faults: string[] = [];
    const succeeded = charges.filter(({ status }) => status === 'succeeded');
    const paid = invoices.filter(({ amount_paid: amount }) => amount > 0);
    const charged = (all: readonly { amount: number }[]): number => all.reduce((sum, { amount }) => sum + amount, 0);
    const due = paid.reduce((sum, { amount_paid: amount }) => sum + amount, 0);
    if (succeeded.length !== paid.length || charged(succeeded) !== due)
      faults.push(
        `${account.id}: ${succeeded.length} charges of ${charged(succeeded)} for ${paid.length} invoices of ${due}`,
      );
    const periods = new Map<number, Stripe.Invoice[]>();
    for (const invoice of paid) {
      this.invoices.add(invoice.id);
      const end = Math.max(...invoice.lines.data.map(({ period }) => period.end));
      periods.set(end, [...(periods.get(end) ?? []), invoice]);
    }
    for (const [end, those] of periods) {
      const sum = those.reduce((all, { amount_paid: amount }) => all + amount, 0);
      const start = Math.min(...those.flatMap(({ lines }) => lines.data.map(({ period }) => period.start)));
      const most = this.#mostNeeded(account.id, start * 1_000, end * 1_000);
      if (sum > most * PRICE)
        faults.push(`${account.id}: was charged ${sum} for ${most} places: ${those.map(textOf).join('; ')}`);
    }
    return faults;
  }

  /** The most places that an account needed in a period, or at the last rest before it, by which it was renewed. */
  #mostNeeded(accountId: string, startMs: number, endMs: number): number {
    const from = this.#restedAtMs.findLast((ms) => ms < startMs) ?? 0;
    const needs = (this.#needs.get(accountId) ?? []).filter(({ atMs }) => atMs >= from && atMs < endMs);
    return Math.max(...needs.map(({ places }) => places));
  }

  /** Numbers that are refused although they have been paid for since the last rest. */
  async #refusals({ account, bought, covered }: Truth): Promise<string[]> {
    const faults: string[] = [];
    for (const [index, { id, region }] of account.numbers.entries()) {
      if (!this.#paidFor.has(id)) continue;
      if (index > 0 && (index > bought || covered !== 'good')) this.#paidFor.delete(id);
      else {
        const standing = (await region.directory.byId(id))?.standing;
        if (standing !== 'good') faults.push(`${account.id}: number ${index + 1} is paid for, and ${String(standing)}`);
      }
    }
    return faults;
  }

  async #standingFaults({ account, bought, covered }: Truth): Promise<string[]> {
    const faults: string[] = [];
    for (const [index, { id, region }] of account.numbers.entries()) {
      const expected: Standing = index === 0 ? 'good' : index <= bought ? covered : 'over_free_allowance';
      const actual = (await region.directory.byId(id))?.standing;
      if (actual !== expected) faults.push(`${account.id}: number ${index + 1} is ${String(actual)}, not ${expected}`);
      else if (expected === 'good') this.#paidFor.add(id);
    }
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
      const waiting = subscription.pending_update ? subscription.latest_invoice : null;
      const open = invoices.filter(
        (invoice) => invoice.status === 'open' && invoice.id !== waiting && isOf(invoice, subscription),
      );
      const oldestMs = Math.min(...open.map(({ status_transitions: at }) => (at.finalized_at ?? 0) * 1_000));
      return nowMs < oldestMs + GRACE_MS ? 'good' : 'past_due';
    }
    case 'unpaid':
    case 'paused':
      return 'past_due';
    default:
      return 'over_free_allowance';
  }
}

function isOf({ parent }: Stripe.Invoice, { id }: Stripe.Subscription): boolean {
  return parent?.subscription_details?.subscription === id;
}

function quantityFaults({ account: { id, numbers }, subscription, bought }: Truth): string[] {
  if (subscription?.status !== 'active' || subscription.pending_update) return [];
  const further = Math.max(0, numbers.length - 1);
  const quantity = subscription.items.data[0]?.quantity ?? 0;
  const expected = Math.min(further, bought);
  const faults = quantity === expected ? [] : [`${id}: the next period has ${quantity} places, not ${expected}`];
  // What the card pays for is bought up to the limit; a card that fails buys nothing.
  return bought > LIMIT ? [...faults, `${id}: has ${bought} places, beyond its limit`] : faults;
}
