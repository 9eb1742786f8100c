import { viewPlan, viewPrice } from './price-view.js';
import type { Price, Subscription, SubscriptionItem } from './records.js';
import { NEVER, pageOf, plain, type WireObject } from './wire-object.js';

export function viewSubscription(record: Subscription, price: (id: string) => Price, livemode: boolean): WireObject {
  const { items, pendingUpdate, paused, missingPaymentMethod, resumption: _, ...wire } = record;
  const viewItem = (item: SubscriptionItem) => viewSubscriptionItem(item, record.id, price, livemode);
  return plain({
    ...wire,
    ...{ application: null, application_fee_percent: null, automatic_tax: NEVER.automaticTax },
    ...{ billing_cycle_anchor_config: null, billing_schedules: [], billing_thresholds: null },
    billing_mode: { type: 'flexible', flexible: { proration_discounts: 'included' } },
    cancellation_details: { ...record.cancellation_details, feedback_option: null },
    collection_method: 'charge_automatically',
    ...{ customer_account: null, days_until_due: null, default_source: null, default_tax_rates: [], discounts: [] },
    invoice_settings: {
      ...{ account_tax_ids: null, custom_fields: null, description: null, footer: null, issuer: { type: 'self' } },
    },
    items: pageOf(items.map(viewItem), `/v1/subscription_items?subscription=${record.id}`),
    ...{ managed_payments: null, next_pending_invoice_item_invoice: null, on_behalf_of: null, pause_collection: null },
    payment_settings: {
      ...{ payment_method_options: null, payment_method_types: null, save_default_payment_method: 'on_subscription' },
    },
    ...{ pending_invoice_item_interval: null, pending_setup_intent: null },
    pending_update: pendingUpdate && {
      ...{ billing_cycle_anchor: null, cancel_at_period_end: null, discount: null, discounts: null },
      ...{ expires_at: pendingUpdate.expires_at, metadata: null },
      ...{ subscription_items: pendingUpdate.items.map(viewItem), trial_end: null, trial_from_plan: null },
    },
    schedule: null,
    ...(paused && {
      status_details: {
        paused: { subscription: { type: paused.reason }, transitioned_at: paused.since, type: 'subscription' },
      },
    }),
    transfer_data: null,
    trial_settings: {
      end_behavior: { billing_cycle_anchor: null, missing_payment_method: missingPaymentMethod },
    },
  });
}

function viewSubscriptionItem(
  item: SubscriptionItem,
  subscription: string,
  price: (id: string) => Price,
  livemode: boolean,
): WireObject {
  const { billed, price: priceId, ...wire } = item;
  return plain({
    ...wire,
    object: 'subscription_item',
    ...(billed && { billed_until: billed.end }),
    ...{ billing_thresholds: null, current_trial: null, discounts: [] },
    plan: viewPlan(price(priceId), livemode),
    price: viewPrice(price(priceId), livemode),
    subscription,
    tax_rates: [],
  });
}
