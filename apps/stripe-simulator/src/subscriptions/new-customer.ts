import type { Customer } from '../objects/records.js';
import { newId } from '../wire/ids.js';
import type { World } from '../world/world.js';

/** A new customer with nothing but what is given. */
export function makeCustomer(world: World, given: Partial<Customer>): Customer {
  const customer = world.store.customers.put({
    ...{
      id: newId('cus'),
      object: 'customer',
      created: world.now(given.test_clock ?? null),
      address: null,
      balance: 0,
    },
    ...{ currency: null, description: null, email: null, name: null, phone: null, metadata: {}, tax_exempt: 'none' },
    ...{ invoice_prefix: newId('x').slice(2, 10).toUpperCase(), next_invoice_sequence: 1, test_clock: null },
    ...{ defaultPaymentMethod: null, taxIds: [] },
    searchableAtMs: world.options.wallMs() + world.state.searchDelayMs,
    ...given,
  });
  world.emit('customer.created', customer);
  return customer;
}
