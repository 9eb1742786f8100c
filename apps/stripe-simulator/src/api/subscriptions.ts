import { z } from 'zod';
import {
  flag,
  integer,
  list,
  listParameters,
  mergeMetadata,
  metadata,
  moments,
  parameters,
  removable,
  text,
  within,
} from '../wire/parameters.js';
import { readSearchQuery } from '../wire/search-query.js';
import { invalid, noSuch } from '../wire/stripe-fault.js';
import { cancelNow } from '../subscriptions/cancelling.js';
import { subscriptionOf } from '../subscriptions/changing.js';
import { createSubscription } from '../subscriptions/creation.js';
import { pauseSubscription, resumeSubscription } from '../subscriptions/pausing.js';
import { updateSubscription } from '../subscriptions/updates.js';
import type { World } from '../world/world.js';
import { customerOf } from './customers.js';
import { listAnswer, searchAnswer } from './lists.js';
import { operation } from './operation.js';

const DAY_SECONDS = 86_400;
const ENDED = ['canceled', 'incomplete_expired'];
const STATUSES = ['active', 'canceled', 'incomplete', 'incomplete_expired', 'past_due', 'paused', 'trialing', 'unpaid'];

const proration = z.enum(['always_invoice', 'create_prorations', 'none']);
export const itemChange = z.strictObject({
  id: text.optional(),
  price: text.optional(),
  quantity: integer.optional(),
  deleted: flag.optional(),
  metadata: metadata.optional(),
});
const trialSettings = z.strictObject({
  end_behavior: z.strictObject({ missing_payment_method: z.enum(['cancel', 'create_invoice', 'pause']) }),
});
const billingMode = z.strictObject({ type: z.literal('flexible') });
const cancellation = z.strictObject({ comment: removable(text).optional(), feedback: removable(text).optional() });

const creation = parameters({
  ...{
    customer: text,
    items: list(itemChange),
    default_payment_method: text.optional(),
    metadata: metadata.optional(),
  },
  ...{ description: text.optional(), trial_end: z.union([z.literal('now'), integer]).optional() },
  ...{ trial_period_days: integer.optional(), trial_settings: trialSettings.optional(), off_session: flag.optional() },
  ...{ billing_mode: billingMode.optional(), proration_behavior: proration.optional() },
  payment_behavior: z.enum(['allow_incomplete', 'default_incomplete', 'error_if_incomplete']).optional(),
});
const update = parameters({
  ...{
    items: list(itemChange).optional(),
    proration_behavior: proration.optional(),
    proration_date: integer.optional(),
  },
  payment_behavior: z
    .enum(['allow_incomplete', 'default_incomplete', 'error_if_incomplete', 'pending_if_incomplete'])
    .optional(),
  ...{ cancel_at_period_end: flag.optional(), cancel_at: removable(integer).optional(), metadata: metadata.optional() },
  ...{ cancellation_details: cancellation.optional(), default_payment_method: text.optional() },
  ...{
    description: removable(text).optional(),
    off_session: flag.optional(),
    trial_settings: trialSettings.optional(),
  },
  trial_end: z.union([z.literal('now'), integer]).optional(),
});

function create(world: World, given: z.output<typeof creation>) {
  const customer = customerOf(world, given.customer, 'customer');
  const items = given.items.map(({ price, quantity, metadata: own }, index) => {
    const param = `items[${index}][price]`;
    if (price === undefined) throw invalid(`Missing required param: ${param}.`, param, 'parameter_missing');
    if (!world.store.prices.get(price)) throw noSuch('price', price, param);
    return { price, quantity: quantity ?? 1, metadata: mergeMetadata({}, own) };
  });
  if (items.length === 0) throw invalid('Missing required param: items.', 'items', 'parameter_missing');
  const days = given.trial_period_days;
  const named = given.trial_end === 'now' ? undefined : given.trial_end;
  const trialEnd = named ?? (days === undefined ? null : world.nowFor(customer.id) + days * DAY_SECONDS);
  const behavior = given.payment_behavior ?? 'allow_incomplete';
  const method = given.default_payment_method ?? null;
  const hasMethod = method !== null || customer.defaultPaymentMethod !== null;
  if (!hasMethod && trialEnd === null && behavior !== 'default_incomplete')
    throw invalid(
      'This customer has no attached payment source or default payment method. Please consider adding a default payment method.',
      undefined,
      'resource_missing',
    );
  const { subscription } = createSubscription(world, {
    ...{ customer: customer.id, items, defaultPaymentMethod: method, metadata: mergeMetadata({}, given.metadata) },
    ...{ description: given.description ?? null, trialEnd, paymentBehavior: behavior },
    missingPaymentMethod: given.trial_settings?.end_behavior.missing_payment_method ?? 'create_invoice',
    payment: { isPresent: given.off_session !== true },
  });
  return { record: subscription };
}

/** Pages of subscriptions: without a status those that were not cancelled, and those on test clocks only for their customer or clock. */
const listing = operation(
  'GET',
  '/v1/subscriptions',
  listParameters({
    ...{ customer: text.optional(), price: text.optional(), test_clock: text.optional(), created: moments.optional() },
    status: z.enum([...STATUSES, 'all', 'ended']).optional(),
    ...{ current_period_end: moments.optional(), current_period_start: moments.optional() },
  }),
  (world, given) => {
    const { customer, price, status, test_clock: clock } = given;
    return listAnswer(world, world.store.subscriptions, given, '/v1/subscriptions', (one) => {
      if (customer !== undefined ? one.customer !== customer : one.test_clock !== (clock ?? null)) return false;
      const hasEnded = ENDED.includes(one.status);
      const isOfStatus =
        status === undefined
          ? one.status !== 'canceled'
          : status === 'all' || (status === 'ended' ? hasEnded : one.status === status);
      const isPriced = price === undefined || one.items.some((item) => item.price === price);
      const [item] = one.items;
      const isInPeriod =
        within(given.current_period_end, item?.current_period_end ?? 0) &&
        within(given.current_period_start, item?.current_period_start ?? 0);
      return isOfStatus && isPriced && isInPeriod && within(given.created, one.created);
    });
  },
);

const kinds = <T extends [string, ...string[]]>(...names: T) => z.strictObject({ type: z.enum(names) }).optional();

export const subscriptionOperations = [
  operation('POST', '/v1/subscriptions', creation, create),
  listing,
  operation(
    'GET',
    '/v1/subscriptions/search',
    parameters({ query: text, limit: integer.optional(), page: text.optional() }),
    (world, given) => {
      const test = readSearchQuery(given.query, ['status']);
      const latest = world.now(null) - world.state.searchDelayMs / 1000;
      return searchAnswer(world, world.store.subscriptions, given, '/v1/subscriptions/search', (one) => {
        return one.created <= latest && test(one);
      });
    },
  ),
  operation('GET', '/v1/subscriptions/:subscription', parameters({}), (world, _, { subscription = '' }) => ({
    record: subscriptionOf(world, subscription),
  })),
  operation('POST', '/v1/subscriptions/:subscription', update, (world, given, { subscription = '' }) => {
    const { expand: _, ...changes } = given;
    return { record: updateSubscription(world, subscription, changes) };
  }),
  operation(
    'DELETE',
    '/v1/subscriptions/:subscription',
    parameters({
      ...{ prorate: flag.optional(), invoice_now: flag.optional(), cancellation_details: cancellation.optional() },
    }),
    (world, given, { subscription: id = '' }) => {
      if (ENDED.includes(subscriptionOf(world, id).status)) throw noSuch('subscription', id);
      const record = cancelNow(world, id, { prorate: given.prorate === true, invoiceNow: given.invoice_now === true });
      return { record };
    },
  ),
  operation(
    'POST',
    '/v1/subscriptions/:subscription/pause',
    parameters({
      bill_for: z
        .strictObject({
          outstanding_usage_through: kinds('now', 'none'),
          unused_time_from: kinds('now', 'none', 'item_current_period_start'),
        })
        .optional(),
      invoicing_behavior: z.enum(['invoice', 'pending_invoice_item']).optional(),
      type: z.literal('subscription').optional(),
    }),
    (world, given, { subscription = '' }) => ({
      record: pauseSubscription(world, subscription, {
        unusedTimeFrom: given.bill_for?.unused_time_from?.type ?? 'now',
        invoicing: given.invoicing_behavior ?? 'pending_invoice_item',
      }),
    }),
  ),
  operation(
    'POST',
    '/v1/subscriptions/:subscription/resume',
    parameters({
      billing_cycle_anchor: kinds('now', 'unchanged'),
      payment_behavior: z.enum(['resume_on_payment_attempt', 'resume_on_payment_success']).optional(),
      ...{ proration_behavior: proration.optional(), proration_date: integer.optional() },
    }),
    (world, given, { subscription = '' }) => ({
      record: resumeSubscription(world, subscription, {
        anchor: given.billing_cycle_anchor?.type ?? 'now',
        payment: given.payment_behavior ?? 'resume_on_payment_attempt',
        proration: given.proration_behavior ?? 'create_prorations',
      }),
    }),
  ),
];
