import { newId } from '../wire/ids.js';
import type { InvoiceLine, Price, Subscription, SubscriptionItem } from '../objects/records.js';
import { prorate, type Billed } from '../money/proration.js';
import type { World } from '../world/world.js';

export interface Period {
  start: number;
  end: number;
}

export function priceOf(world: World, id: string): Price {
  const price = world.store.prices.get(id);
  if (!price) throw new Error(`There is no price ${id}.`);
  return price;
}

function nameOf(world: World, price: Price): string {
  return world.store.products.get(price.product)?.name ?? price.product;
}

/** The line of a whole period. */
export function fullLine(world: World, subscription: string, item: SubscriptionItem, period: Period): InvoiceLine {
  const price = priceOf(world, item.price);
  const each = `$${(price.unit_amount / 100).toFixed(2)} / ${price.recurring?.interval ?? 'month'}`;
  return {
    ...{ id: newId('il'), amount: price.unit_amount * item.quantity, currency: price.currency },
    description: `${item.quantity} × ${nameOf(world, price)} (at ${each})`,
    ...{ period, price: price.id, quantity: item.quantity, isProration: false, subscription },
    ...{ subscriptionItem: item.id, invoiceItem: null },
  };
}

/** The line of a trial: it costs nothing. */
export function trialLine(world: World, subscription: string, item: SubscriptionItem, period: Period): InvoiceLine {
  const price = priceOf(world, item.price);
  return {
    ...fullLine(world, subscription, item, period),
    ...{ amount: 0, description: `Trial period for ${nameOf(world, price)}` },
  };
}

/** What the item counts as billed after a line of its own. */
export function billedBy(line: InvoiceLine): Billed {
  return { quantity: line.quantity, amount: line.amount, ...line.period };
}

/** The two lines of a change of quantity or price, credit first, and what is billed afterwards. A line of nothing is left out. */
export function prorationLines(
  world: World,
  subscription: Subscription,
  before: SubscriptionItem | undefined,
  after: SubscriptionItem | undefined,
  at: number,
): { lines: InvoiceLine[]; billed: Billed | undefined } {
  const item = after ?? before;
  if (!item) return { lines: [], billed: undefined };
  const price = priceOf(world, item.price);
  const period = { start: item.current_period_start, end: item.current_period_end };
  const change = prorate({
    ...{ unitAmount: price.unit_amount, from: before?.quantity ?? 0, to: after?.quantity ?? 0 },
    ...{ billed: before?.billed, period, at },
  });
  const moment = Math.min(Math.max(at, period.start), period.end);
  const left = { start: moment, end: period.end };
  const line = (verb: string, of: Price, quantity: number, amount: number): InvoiceLine => ({
    ...{ id: newId('il'), amount, currency: of.currency, period: left, price: of.id, quantity, isProration: true },
    description: `${verb} time on ${quantity > 1 ? `${quantity} × ` : ''}${nameOf(world, of)} after ${dayOf(moment)}`,
    ...{ subscription: subscription.id, subscriptionItem: item.id, invoiceItem: newId('ii') },
  });
  const lines: InvoiceLine[] = [];
  if (before && change.credit !== 0)
    lines.push(line('Unused', priceOf(world, before.price), change.creditQuantity, change.credit));
  if (after && change.debit !== 0) lines.push(line('Remaining', price, after.quantity, change.debit));
  const billed = after && { quantity: after.quantity, amount: change.debit, ...left };
  return { lines, billed };
}

function dayOf(moment: number): string {
  return new Date(moment * 1000).toISOString().slice(0, 10);
}
