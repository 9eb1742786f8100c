import { z } from 'zod';
import type { Address, Customer } from '../objects/records.js';
import { newId } from '../wire/ids.js';
import {
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
import { endSubscription } from '../subscriptions/ending.js';
import { makeCustomer } from '../subscriptions/new-customer.js';
import type { World } from '../world/world.js';
import { listAnswer, searchAnswer } from './lists.js';
import { operation } from './operation.js';

const address = z.strictObject({
  ...{ city: text.optional(), country: text.optional(), line1: text.optional(), line2: text.optional() },
  ...{ postal_code: text.optional(), state: text.optional() },
});
const email = text.refine((given) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(given) || given === '', {
  error: ({ input }) => `Invalid email address: ${String(input)}`,
});
const fields = {
  address: removable(address).optional(),
  description: removable(text).optional(),
  email: removable(email).optional(),
  metadata: metadata.optional(),
  name: removable(text).optional(),
  phone: removable(text).optional(),
  invoice_settings: z.strictObject({ default_payment_method: removable(text).optional() }).optional(),
  preferred_locales: list(text).optional(),
  tax_exempt: z.enum(['none', 'exempt', 'reverse']).optional(),
};
const creation = parameters({ ...fields, test_clock: text.optional(), payment_method: text.optional() });
const change = parameters(fields);
const taxIdData = parameters({ type: text, value: text });

export function customerOf(world: World, id: string, param = 'id'): Customer {
  const customer = world.store.customers.get(id);
  if (!customer || customer.deleted === true) throw noSuch('customer', id, param);
  return customer;
}

function fullAddress(given: z.output<typeof address>): Address {
  const { city = null, country = null, line1 = null, line2 = null, postal_code = null, state = null } = given;
  return { city, country, line1, line2, postal_code, state };
}

function changesOf(world: World, given: z.output<typeof change>, customer: Customer | undefined): Partial<Customer> {
  const method = given.invoice_settings?.default_payment_method;
  if (typeof method === 'string' && world.store.paymentMethods.get(method)?.customer !== customer?.id)
    throw noSuch('PaymentMethod', method, 'invoice_settings[default_payment_method]');
  return {
    ...(given.address !== undefined && { address: given.address && fullAddress(given.address) }),
    ...(given.description !== undefined && { description: given.description }),
    ...(given.email !== undefined && { email: given.email }),
    ...(given.name !== undefined && { name: given.name }),
    ...(given.phone !== undefined && { phone: given.phone }),
    ...(given.tax_exempt !== undefined && { tax_exempt: given.tax_exempt }),
    ...(given.metadata !== undefined && { metadata: mergeMetadata(customer?.metadata ?? {}, given.metadata) }),
    ...(method !== undefined && { defaultPaymentMethod: method }),
  };
}

function deleteCustomer(world: World, id: string) {
  const customer = customerOf(world, id);
  const held = world.store.subscriptions.filter(
    (one) => one.customer === id && !['canceled', 'incomplete_expired'].includes(one.status),
  );
  for (const subscription of held) endSubscription(world, subscription.id, 'cancellation_requested');
  world.emit('customer.deleted', customer);
  const deleted = world.store.customers.change(id, {
    ...{ deleted: true, email: null, name: null, phone: null, address: null, description: null, metadata: {} },
  });
  return { record: deleted };
}

export const customerOperations = [
  operation('POST', '/v1/customers', creation, (world, given) => {
    const { test_clock: clock } = given;
    if (clock !== undefined && !world.store.testClocks.get(clock)) throw noSuch('test clock', clock, 'test_clock');
    const { payment_method: _, test_clock: __, ...rest } = given;
    return { record: makeCustomer(world, { ...changesOf(world, rest, undefined), test_clock: clock ?? null }) };
  }),
  operation(
    'GET',
    '/v1/customers',
    listParameters({ email: text.optional(), created: moments.optional(), test_clock: text.optional() }),
    (world, given) =>
      listAnswer(world, world.store.customers, given, '/v1/customers', (customer) => {
        const isAmong = customer.test_clock === (given.test_clock ?? null) && customer.deleted !== true;
        return (
          isAmong &&
          within(given.created, customer.created) &&
          (given.email === undefined || customer.email === given.email)
        );
      }),
  ),
  operation(
    'GET',
    '/v1/customers/search',
    parameters({ query: text, limit: integer.optional(), page: text.optional() }),
    (world, given) => {
      const test = readSearchQuery(given.query, ['email', 'name', 'phone']);
      const nowMs = world.options.wallMs();
      return searchAnswer(world, world.store.customers, given, '/v1/customers/search', (customer) => {
        return customer.deleted !== true && customer.searchableAtMs <= nowMs && test(customer);
      });
    },
  ),
  operation('GET', '/v1/customers/:customer', parameters({}), (world, _, { customer = '' }) => {
    const record = world.store.customers.get(customer);
    if (!record) throw noSuch('customer', customer);
    return { record };
  }),
  operation('POST', '/v1/customers/:customer', change, (world, given, { customer: id = '' }) => {
    const before = customerOf(world, id);
    const after = world.store.customers.change(id, changesOf(world, given, before));
    world.emit('customer.updated', after, before);
    return { record: after };
  }),
  operation('DELETE', '/v1/customers/:customer', parameters({}), (world, _, { customer = '' }) =>
    deleteCustomer(world, customer),
  ),
  operation('POST', '/v1/customers/:customer/tax_ids', taxIdData, (world, given, { customer: id = '' }) => {
    const customer = customerOf(world, id);
    if (!/^[a-z_]+$/.test(given.type)) throw invalid(`Invalid type: ${given.type}`, 'type');
    const taxId = { id: newId('txi'), type: given.type, value: given.value, created: world.nowFor(id) };
    world.store.customers.change(id, { taxIds: [...customer.taxIds, taxId] });
    const [made] = (world.views.extra({ object: 'customer', id }, 'tax_ids') as { data: never[] }).data.slice(-1);
    return { object: made ?? {} };
  }),
  operation('GET', '/v1/customers/:customer/tax_ids', listParameters({}), (world, _, { customer: id = '' }) => {
    customerOf(world, id);
    return { object: world.views.extra({ object: 'customer', id }, 'tax_ids') as Record<string, never> };
  }),
];
