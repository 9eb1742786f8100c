import { z } from 'zod';
import type { CheckoutSession } from '../objects/records.js';
import { newId } from '../wire/ids.js';
import { flag, integer, list, listParameters, mergeMetadata, metadata, parameters, text } from '../wire/parameters.js';
import { invalid, noSuch } from '../wire/stripe-fault.js';
import { priceOf } from '../subscriptions/lines.js';
import type { World } from '../world/world.js';
import { customerOf } from './customers.js';
import { listAnswer } from './lists.js';
import { operation } from './operation.js';

const HALF_HOUR = 1800;
const DAY_SECONDS = 86_400;
/** Addresses may hold `{CHECKOUT_SESSION_ID}`, which is no address before it is filled in. */
const address = text.refine((given) => /^https?:/.test(given) && URL.canParse(given.replace(/[{}]/g, '')), {
  error: 'Not a valid URL',
});

const creation = parameters({
  mode: z.literal('subscription'),
  ui_mode: z.literal('hosted_page').optional(),
  success_url: address,
  cancel_url: address.optional(),
  ...{ client_reference_id: text.max(200).optional(), customer: text.optional(), customer_email: text.optional() },
  ...{ metadata: metadata.optional(), expires_at: integer.optional(), locale: text.optional() },
  line_items: list(
    z.strictObject({
      ...{ price: text, quantity: integer.refine((count) => count > 0, { error: 'Invalid positive integer' }) },
      adjustable_quantity: z.strictObject({ enabled: z.literal('false') }).optional(),
    }),
  ),
  subscription_data: z
    .strictObject({
      ...{ metadata: metadata.optional(), description: text.optional(), trial_end: integer.optional() },
      ...{
        trial_period_days: integer.optional(),
        billing_mode: z.strictObject({ type: z.literal('flexible') }).optional(),
      },
    })
    .optional(),
  tax_id_collection: z.strictObject({ enabled: flag }).optional(),
  customer_update: z
    .strictObject({
      ...{ address: z.enum(['auto', 'never']).optional(), name: z.enum(['auto', 'never']).optional() },
    })
    .optional(),
  billing_address_collection: z.enum(['auto', 'required']).optional(),
  automatic_tax: z.strictObject({ enabled: z.literal('false') }).optional(),
  allow_promotion_codes: flag.optional(),
  payment_method_collection: z.literal('always').optional(),
});

/** What cannot be together, in the API's words. */
function checkTogether(world: World, given: z.output<typeof creation>): void {
  if (given.customer !== undefined && given.customer_email !== undefined)
    throw invalid('You may only specify one of these parameters: customer, customer_email.', 'customer');
  if (given.customer_update && given.customer === undefined)
    throw invalid('`customer_update` can only be used with `customer`.', 'customer_update');
  if (
    given.tax_id_collection?.enabled === true &&
    given.customer !== undefined &&
    given.customer_update?.name !== 'auto'
  )
    throw invalid(
      'Tax ID collection requires updating business name on the customer. To enable tax ID collection for an existing customer, please set `customer_update[name]` to `auto`.',
      'customer_update[name]',
    );
  if (given.line_items.length === 0)
    throw invalid('Missing required param: line_items.', 'line_items', 'parameter_missing');
  const at = given.customer === undefined ? world.now(null) : world.nowFor(given.customer);
  const { expires_at: ends } = given;
  if (ends !== undefined && (ends < at + HALF_HOUR - 60 || ends > at + DAY_SECONDS + 60))
    throw invalid(
      'The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation.',
      'expires_at',
    );
}

function create(world: World, given: z.output<typeof creation>) {
  const customer = given.customer === undefined ? undefined : customerOf(world, given.customer, 'customer');
  checkTogether(world, given);
  const lineItems = given.line_items.map(({ price, quantity }, index) => {
    const record = world.store.prices.get(price);
    const param = `line_items[${index}][price]`;
    if (!record) throw noSuch('price', price, param);
    if (!record.active) throw invalid('The price specified is inactive. This field only accepts active prices.', param);
    if (!record.recurring)
      throw invalid('You must provide at least one recurring price in `subscription` mode when using prices.', param);
    return { id: newId('li'), price, quantity };
  });
  const at = world.now(customer?.test_clock ?? null);
  const id = newId(world.options.livemode ? 'cs_live' : 'cs_test');
  const { subscription_data: data } = given;
  const session = world.store.checkoutSessions.put({
    ...{ id, object: 'checkout.session', created: at, cancel_url: given.cancel_url ?? null },
    amount_total: lineItems.reduce((sum, { price, quantity }) => sum + priceOf(world, price).unit_amount * quantity, 0),
    ...{
      client_reference_id: given.client_reference_id ?? null,
      currency: priceOf(world, lineItems[0]?.price ?? '').currency,
    },
    ...{ customer: customer?.id ?? null, customer_email: given.customer_email ?? customer?.email ?? null },
    ...{ expires_at: given.expires_at ?? at + DAY_SECONDS, invoice: null, metadata: mergeMetadata({}, given.metadata) },
    ...{ payment_status: 'unpaid', status: 'open', subscription: null, success_url: given.success_url },
    ...{ url: `${world.options.publicUrl()}/c/pay/${id}`, collectsTaxId: given.tax_id_collection?.enabled === true },
    ...{ lineItems, test_clock: customer?.test_clock ?? null },
    subscriptionData: {
      ...{ metadata: mergeMetadata({}, data?.metadata), description: data?.description ?? null },
      ...{ trialEnd: data?.trial_end ?? null, trialDays: data?.trial_period_days ?? null },
    },
  });
  return { record: session };
}

function sessionOf(world: World, id: string): CheckoutSession {
  const session = world.store.checkoutSessions.get(id);
  if (!session) throw noSuch('checkout.session', id);
  return session;
}

export const checkoutOperations = [
  operation('POST', '/v1/checkout/sessions', creation, create),
  operation(
    'GET',
    '/v1/checkout/sessions',
    listParameters({
      ...{ customer: text.optional(), subscription: text.optional(), payment_intent: text.optional() },
      status: z.enum(['open', 'complete', 'expired']).optional(),
    }),
    (world, given) =>
      listAnswer(world, world.store.checkoutSessions, given, '/v1/checkout/sessions', (session) => {
        const isTheirs = given.customer === undefined || session.customer === given.customer;
        const isOf = given.subscription === undefined || session.subscription === given.subscription;
        return (
          isTheirs && isOf && given.payment_intent === undefined && (given.status ?? session.status) === session.status
        );
      }),
  ),
  operation('GET', '/v1/checkout/sessions/:session', parameters({}), (world, _, { session = '' }) => ({
    record: sessionOf(world, session),
  })),
  operation('GET', '/v1/checkout/sessions/:session/line_items', listParameters({}), (world, _, { session = '' }) => ({
    object: world.views.extra({ object: 'checkout.session', id: sessionOf(world, session).id }, 'line_items') as Record<
      string,
      never
    >,
  })),
  operation('POST', '/v1/checkout/sessions/:session/expire', parameters({}), (world, _, { session: id = '' }) => {
    const { status } = sessionOf(world, id);
    if (status !== 'open')
      throw invalid(
        `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${status}.`,
      );
    const expired = world.store.checkoutSessions.change(id, { status: 'expired', url: null });
    world.emit('checkout.session.expired', expired);
    return { record: expired };
  }),
];
