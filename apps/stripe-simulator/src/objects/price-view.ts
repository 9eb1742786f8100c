import type { Price } from './records.js';
import { decimal, plain, type WireObject } from './wire-object.js';

export function viewPrice(price: Price, livemode: boolean): WireObject {
  const { recurring, ...wire } = price;
  return plain({
    ...wire,
    livemode,
    ...{ billing_scheme: 'per_unit', custom_unit_amount: null, tiers_mode: null, transform_quantity: null },
    recurring: recurring && { ...recurring, meter: null, trial_period_days: null, usage_type: 'licensed' },
    type: recurring ? 'recurring' : 'one_time',
    unit_amount_decimal: decimal(price.unit_amount),
  });
}

/** The older form of the same price that items still have beside it. */
export function viewPlan(price: Price, livemode: boolean): WireObject {
  return plain({
    ...{ id: price.id, object: 'plan', active: price.active, amount: price.unit_amount },
    ...{ amount_decimal: decimal(price.unit_amount), billing_scheme: 'per_unit', created: price.created },
    ...{ currency: price.currency, interval: price.recurring?.interval ?? 'month' },
    ...{ interval_count: price.recurring?.interval_count ?? 1, livemode, metadata: price.metadata, meter: null },
    ...{ nickname: price.nickname, product: price.product, tiers_mode: null, transform_usage: null },
    ...{ trial_period_days: null, usage_type: 'licensed' },
  });
}
