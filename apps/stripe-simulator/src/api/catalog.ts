import { z } from 'zod';
import { newId } from '../wire/ids.js';
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
  url,
  within,
} from '../wire/parameters.js';
import { invalid, noSuch } from '../wire/stripe-fault.js';
import type { Price, Product } from '../objects/records.js';
import type { World } from '../world/world.js';
import { listAnswer } from './lists.js';
import { operation } from './operation.js';

const productFields = {
  active: flag.optional(),
  description: removable(text).optional(),
  metadata: metadata.optional(),
  statement_descriptor: text.max(22).optional(),
  tax_code: removable(text).optional(),
  unit_label: removable(text).optional(),
  url: url.optional(),
};
const cadence = z.strictObject({
  interval: z.enum(['day', 'week', 'month', 'year']),
  interval_count: integer.refine((count) => count > 0, { error: 'Invalid positive integer' }).optional(),
  usage_type: z.literal('licensed').optional(),
});
const newPrice = parameters({
  currency: text.regex(/^[a-z]{3}$/, { error: ({ input }) => `Invalid currency: ${String(input)}` }),
  product: text,
  unit_amount: integer.refine((cents) => cents >= 0, { error: 'Invalid non-negative integer' }),
  recurring: cadence.optional(),
  active: flag.optional(),
  billing_scheme: z.literal('per_unit').optional(),
  lookup_key: text.max(200).optional(),
  transfer_lookup_key: flag.optional(),
  metadata: metadata.optional(),
  nickname: text.optional(),
  tax_behavior: z.enum(['exclusive', 'inclusive', 'unspecified']).optional(),
});
const priceChange = parameters({
  active: flag.optional(),
  lookup_key: removable(text).optional(),
  transfer_lookup_key: flag.optional(),
  metadata: metadata.optional(),
  nickname: removable(text).optional(),
  tax_behavior: z.enum(['exclusive', 'inclusive', 'unspecified']).optional(),
});

function productOf(world: World, id: string, param = 'id'): Product {
  const product = world.store.products.get(id);
  if (!product) throw noSuch('product', id, param);
  return product;
}

/** A lookup key belongs to one active price; it moves only when that is requested. */
function claimLookupKey(world: World, key: string, mayTransfer: boolean, owner?: string): void {
  const [holder] = world.store.prices.filter(({ id, lookup_key }) => lookup_key === key && id !== owner);
  if (!holder) return;
  if (!mayTransfer)
    throw invalid(
      `A price (\`${holder.id}\`) already uses that lookup key. Pass \`transfer_lookup_key=true\` to move it.`,
      'lookup_key',
      'resource_already_exists',
    );
  world.store.prices.change(holder.id, { lookup_key: null });
}

function createPrice(world: World, given: z.output<typeof newPrice>): Price {
  const product = productOf(world, given.product, 'product');
  if (given.lookup_key !== undefined) claimLookupKey(world, given.lookup_key, given.transfer_lookup_key === true);
  const price = world.store.prices.put({
    ...{ id: newId('price'), object: 'price', created: world.now(null), active: given.active ?? true },
    ...{ currency: given.currency, lookup_key: given.lookup_key ?? null, nickname: given.nickname ?? null },
    ...{ metadata: mergeMetadata({}, given.metadata), product: product.id, unit_amount: given.unit_amount },
    recurring: given.recurring
      ? { interval: given.recurring.interval, interval_count: given.recurring.interval_count ?? 1 }
      : null,
    tax_behavior: given.tax_behavior ?? 'unspecified',
  });
  world.emit('price.created', price);
  return price;
}

const productOperations = [
  operation(
    'POST',
    '/v1/products',
    parameters({ ...productFields, name: text, id: text.optional() }),
    (world, given) => {
      if (given.id !== undefined && world.store.products.get(given.id))
        throw invalid(`Product already exists.`, 'id', 'resource_already_exists');
      const at = world.now(null);
      const product = world.store.products.put({
        ...{ id: given.id ?? newId('prod'), object: 'product', created: at, updated: at, active: given.active ?? true },
        ...{ description: given.description ?? null, metadata: mergeMetadata({}, given.metadata), name: given.name },
        ...{ statement_descriptor: given.statement_descriptor ?? null, tax_code: given.tax_code ?? null },
        ...{ unit_label: given.unit_label ?? null, url: given.url ?? null },
      });
      world.emit('product.created', product);
      return { record: product };
    },
  ),
  operation(
    'GET',
    '/v1/products',
    listParameters({ active: flag.optional(), ids: list(text).optional(), created: moments.optional() }),
    (world, given) =>
      listAnswer(world, world.store.products, given, '/v1/products', ({ id, active, created }) => {
        const isWanted = (given.active ?? active) === active && (given.ids?.includes(id) ?? true);
        return isWanted && within(given.created, created);
      }),
  ),
  operation('GET', '/v1/products/:product', parameters({}), (world, _, { product = '' }) => ({
    record: productOf(world, product),
  })),
  operation(
    'POST',
    '/v1/products/:product',
    parameters({ ...productFields, name: text.optional() }),
    (world, { expand: _, metadata: given, ...fields }, { product: id = '' }) => {
      const before = productOf(world, id);
      const known = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
      const after = world.store.products.change(id, {
        ...{ ...known, updated: world.now(null), metadata: mergeMetadata(before.metadata, given) },
      });
      world.emit('product.updated', after, before);
      return { record: after };
    },
  ),
];

const priceOperations = [
  operation('POST', '/v1/prices', newPrice, (world, given) => ({ record: createPrice(world, given) })),
  operation(
    'GET',
    '/v1/prices',
    listParameters({
      ...{ active: flag.optional(), currency: text.optional(), product: text.optional(), created: moments.optional() },
      ...{ lookup_keys: list(text).optional(), type: z.enum(['recurring', 'one_time']).optional() },
    }),
    (world, given) => {
      if ((given.lookup_keys?.length ?? 0) > 10) throw invalid('You can pass up to 10 lookup_keys.', 'lookup_keys');
      return listAnswer(world, world.store.prices, given, '/v1/prices', (price) => {
        const isNamed = !given.lookup_keys || given.lookup_keys.some((key) => key === price.lookup_key);
        const isOfKind = given.type === undefined || (given.type === 'recurring') === (price.recurring !== null);
        const isWanted =
          (given.active ?? price.active) === price.active && (given.currency ?? price.currency) === price.currency;
        return (
          isNamed &&
          isOfKind &&
          isWanted &&
          (given.product ?? price.product) === price.product &&
          within(given.created, price.created)
        );
      });
    },
  ),
  operation('GET', '/v1/prices/:price', parameters({}), (world, _, { price: id = '' }) => {
    const record = world.store.prices.get(id);
    if (!record) throw noSuch('price', id);
    return { record };
  }),
  operation('POST', '/v1/prices/:price', priceChange, (world, given, { price: id = '' }) => {
    const before = world.store.prices.get(id);
    if (!before) throw noSuch('price', id);
    if (given.lookup_key) claimLookupKey(world, given.lookup_key, given.transfer_lookup_key === true, id);
    const after = world.store.prices.change(id, {
      ...(given.active !== undefined && { active: given.active }),
      ...(given.lookup_key !== undefined && { lookup_key: given.lookup_key }),
      ...(given.nickname !== undefined && { nickname: given.nickname }),
      ...(given.tax_behavior !== undefined && { tax_behavior: given.tax_behavior }),
      metadata: mergeMetadata(before.metadata, given.metadata),
    });
    world.emit('price.updated', after, before);
    return { record: after };
  }),
];

export const catalogOperations = [...productOperations, ...priceOperations];
