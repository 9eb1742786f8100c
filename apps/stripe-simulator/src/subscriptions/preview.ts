import { periodEnd } from '../money/periods.js';
import type { Invoice, ProrationBehavior, Subscription } from '../objects/records.js';
import { StripeFault } from '../wire/stripe-fault.js';
import type { World } from '../world/world.js';
import { composeInvoice, pendingItems } from './invoices.js';
import { changeItems, prorateItems, type ItemChange } from './item-changes.js';
import { fullLine, priceOf } from './lines.js';
import { prorationMoment } from './updates.js';

/** A change whose invoice is to be shown. */
export interface Previewed {
  items?: ItemChange[] | undefined;
  proration_behavior?: ProrationBehavior | undefined;
  proration_date?: number | undefined;
  cancel_at_period_end?: boolean | undefined;
}

/** The next invoice of a subscription as it is or as it would be after a change: the one made at once by `always_invoice`, else that of the next period. Nothing is stored. */
export function previewInvoice(world: World, subscription: Subscription, change: Previewed): Invoice {
  const behavior = change.proration_behavior ?? 'create_prorations';
  const at = prorationMoment(world, subscription, change.proration_date);
  const wanted = change.items ? changeItems(world, subscription, change.items) : subscription.items;
  const isBilled = change.items !== undefined && behavior !== 'none' && subscription.status !== 'trialing';
  const { lines, items } = isBilled ? prorateItems(world, subscription, wanted, at) : { lines: [], items: wanted };
  const waiting = pendingItems(world, subscription.customer, subscription.id).map(({ line }) => line);
  const common = {
    customer: subscription.customer,
    subscription,
    autoAdvance: false,
    prorationDate: isBilled ? at : null,
  };
  if (isBilled && behavior === 'always_invoice')
    return upcoming(world, {
      ...{ ...common, purpose: 'update', billingReason: 'subscription_update', lines: [...waiting, ...lines] },
      period: { start: at, end: at },
    });
  const isEnding = change.cancel_at_period_end ?? subscription.cancel_at !== null;
  const ended = ['canceled', 'incomplete_expired', 'paused', 'incomplete'].includes(subscription.status);
  if (ended || (isEnding && waiting.length + lines.length === 0)) throw nothingUpcoming(subscription.customer);
  const full = isEnding
    ? []
    : items.map((item) => {
        const { recurring } = priceOf(world, item.price);
        const start = item.current_period_end;
        const end = recurring ? periodEnd(subscription.billing_cycle_anchor, recurring, start) : start;
        return fullLine(world, subscription.id, item, { start, end });
      });
  const [first] = subscription.items;
  return upcoming(world, {
    ...{ ...common, purpose: 'cycle', billingReason: 'upcoming', lines: [...waiting, ...lines, ...full] },
    period: { start: first?.current_period_start ?? at, end: first?.current_period_end ?? at },
  });
}

function upcoming(world: World, draft: Parameters<typeof composeInvoice>[1]): Invoice {
  const invoice = composeInvoice(world, draft);
  const next = draft.purpose === 'cycle' ? draft.period.end + world.state.collection.finalizeAfterSeconds : null;
  return { ...invoice, id: `upcoming_${invoice.id}`, next_payment_attempt: next };
}

export function nothingUpcoming(customer: string): StripeFault {
  return new StripeFault(404, 'invalid_request_error', `No upcoming invoices for customer: '${customer}'`, {
    code: 'invoice_upcoming_none',
  });
}
