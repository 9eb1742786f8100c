import { periodEnd } from '../money/periods.js';
import type { InvoiceLine, Metadata, Subscription, SubscriptionItem } from '../objects/records.js';
import { newId } from '../wire/ids.js';
import { invalid } from '../wire/stripe-fault.js';
import type { World } from '../world/world.js';
import { priceOf, prorationLines } from './lines.js';

/** One change of an item as a request names it: without an id a new item. */
export interface ItemChange {
  id?: string | undefined;
  price?: string | undefined;
  quantity?: number | undefined;
  deleted?: boolean | undefined;
  metadata?: Metadata | null | undefined;
}

/** The items after some changes, nothing billed for them yet. Throws the API's 400 for what cannot be. */
export function changeItems(
  world: World,
  subscription: Subscription,
  changes: readonly ItemChange[],
): SubscriptionItem[] {
  const items = [...subscription.items];
  changes.forEach((change, index) => {
    const param = `items[${index}]`;
    if (change.price !== undefined) checkPrice(world, change.price, `${param}[price]`);
    if (change.quantity !== undefined && change.quantity < 0)
      throw invalid('Invalid non-negative integer', `${param}[quantity]`);
    if (change.id === undefined) {
      items.push(addedItem(world, subscription, change, param, items));
      return;
    }
    const place = items.findIndex(({ id }) => id === change.id);
    const item = items[place];
    if (!item)
      throw invalid(`Subscription item ${change.id} does not exist on subscription ${subscription.id}`, `${param}[id]`);
    if (change.deleted === true) items.splice(place, 1);
    else
      items[place] = {
        ...item,
        ...{ price: change.price ?? item.price, quantity: change.quantity ?? item.quantity },
        metadata: change.metadata ?? item.metadata,
      };
  });
  if (items.length === 0)
    throw invalid(
      'A subscription must have at least one active plan. To cancel the subscription, use the cancel endpoint.',
      'items',
    );
  return items;
}

function checkPrice(world: World, id: string, param: string): void {
  const price = world.store.prices.get(id);
  if (!price) throw invalid(`No such price: '${id}'`, param, 'resource_missing');
  if (!price.active) throw invalid(`The price specified is inactive. This field only accepts active prices.`, param);
}

function addedItem(
  world: World,
  subscription: Subscription,
  change: ItemChange,
  param: string,
  present: readonly SubscriptionItem[],
): SubscriptionItem {
  if (change.price === undefined)
    throw invalid(`Missing required param: ${param}[price].`, `${param}[price]`, 'parameter_missing');
  if (present.some(({ price }) => price === change.price))
    throw invalid(`Cannot add multiple subscription items with the same plan: ${change.price}`, param);
  const { recurring } = priceOf(world, change.price);
  if (!recurring) throw invalid('This field only accepts prices with `type=recurring`.', `${param}[price]`);
  const at = world.nowFor(subscription.customer);
  const [first] = subscription.items;
  return {
    ...{ id: newId('si'), created: at, price: change.price, quantity: change.quantity ?? 1, billed: undefined },
    ...{ metadata: change.metadata ?? {}, current_period_start: first?.current_period_start ?? at },
    current_period_end: first?.current_period_end ?? periodEnd(subscription.billing_cycle_anchor, recurring, at),
  };
}

/** The lines that changed items cost at a moment, and the items with what is then billed for them. */
export function prorateItems(
  world: World,
  subscription: Subscription,
  items: readonly SubscriptionItem[],
  at: number,
): { lines: InvoiceLine[]; items: SubscriptionItem[] } {
  const lines: InvoiceLine[] = [];
  const billed = items.map((item) => {
    const before = subscription.items.find(({ id }) => id === item.id);
    if (before && before.quantity === item.quantity && before.price === item.price) return item;
    const change = prorationLines(world, subscription, before, item, at);
    lines.push(...change.lines);
    return { ...item, billed: change.billed };
  });
  for (const before of subscription.items) {
    if (!items.some(({ id }) => id === before.id))
      lines.push(...prorationLines(world, subscription, before, undefined, at).lines);
  }
  return { lines, items: billed };
}
