import type { World } from '../world/world.js';
import { priceOf } from './lines.js';

/** What a number of units costs, in words and cents. */
export function amountOf(
  world: World,
  price: string,
  quantity: number,
): { name: string; amount: number; cadence: string } {
  const record = priceOf(world, price);
  return {
    name: world.store.products.get(record.product)?.name ?? record.product,
    amount: record.unit_amount * quantity,
    cadence: record.recurring ? `per ${record.recurring.interval}` : '',
  };
}
