import type { TestClock } from '../objects/records.js';
import { newId } from '../wire/ids.js';
import { integer, listParameters, parameters, text } from '../wire/parameters.js';
import { invalid, noSuch } from '../wire/stripe-fault.js';
import { anniversary } from '../money/periods.js';
import { priceOf } from '../subscriptions/lines.js';
import type { World } from '../world/world.js';
import { customerOf } from './customers.js';
import { listAnswer } from './lists.js';
import { operation } from './operation.js';

const MONTH_SECONDS = 30 * 86_400;
const PATH = '/v1/test_helpers/test_clocks';

function clockOf(world: World, id: string): TestClock {
  const clock = world.store.testClocks.get(id);
  if (!clock) throw noSuch('test_clock', id);
  return clock;
}

/** The customer, and all that is theirs, lives on the clock from now on. */
function attach(world: World, id: string, clock: string): void {
  if (customerOf(world, id, 'customer').test_clock !== null)
    throw invalid(`Customer ${id} is attached to a test clock already.`, 'customer');
  world.store.customers.change(id, { test_clock: clock });
  for (const one of world.store.subscriptions.filter(({ customer }) => customer === id))
    world.store.subscriptions.change(one.id, { test_clock: clock });
  for (const one of world.store.invoices.filter(({ customer }) => customer === id))
    world.store.invoices.change(one.id, { test_clock: clock });
  for (const one of world.store.checkoutSessions.filter(({ customer }) => customer === id))
    world.store.checkoutSessions.change(one.id, { test_clock: clock });
}

/** A clock moves at most two intervals of its shortest subscription at a time. */
function furthest(world: World, clock: TestClock): number {
  const ends = world.store.subscriptions
    .filter(({ test_clock: own, status }) => own === clock.id && !['canceled', 'incomplete_expired'].includes(status))
    .flatMap(({ items }) => items.map(({ price }) => priceOf(world, price).recurring))
    .map((cadence) => (cadence ? anniversary(clock.frozen_time, cadence, 2) : Infinity));
  return Math.min(...ends, clock.frozen_time + 24 * MONTH_SECONDS);
}

export const testClockOperations = [
  operation(
    'POST',
    PATH,
    parameters({ frozen_time: integer, name: text.optional(), customer: text.optional() }),
    (world, given) => {
      const clock = world.store.testClocks.put({
        ...{
          id: newId('clock'),
          object: 'test_helpers.test_clock',
          created: world.now(null),
          status: 'ready',
          target: null,
        },
        ...{ deletes_after: world.now(null) + MONTH_SECONDS, frozen_time: given.frozen_time, name: given.name ?? null },
      });
      if (given.customer !== undefined) attach(world, given.customer, clock.id);
      world.emit('test_helpers.test_clock.created', clock);
      return { record: clock };
    },
  ),
  operation('GET', PATH, listParameters({}), (world, given) =>
    listAnswer(world, world.store.testClocks, given, PATH, () => true),
  ),
  operation('GET', `${PATH}/:clock`, parameters({}), (world, _, { clock = '' }) => ({ record: clockOf(world, clock) })),
  operation(
    'POST',
    `${PATH}/:clock/advance`,
    parameters({ frozen_time: integer }),
    (world, given, { clock: id = '' }) => {
      const clock = clockOf(world, id);
      if (clock.status !== 'ready') throw invalid('Cannot advance a test clock that is advancing already.');
      if (given.frozen_time <= clock.frozen_time)
        throw invalid(`The test clock must be advanced to a time after ${clock.frozen_time}.`, 'frozen_time');
      if (given.frozen_time > furthest(world, clock))
        throw invalid(
          'You can advance a test clock by at most two intervals from its present time, where the interval is that of its shortest subscription.',
          'frozen_time',
        );
      // What falls due happens right after this answer: see `finishAdvances`.
      const advancing = world.store.testClocks.change(id, { status: 'advancing', target: given.frozen_time });
      world.emit('test_helpers.test_clock.advancing', advancing);
      return { record: advancing };
    },
  ),
  operation('DELETE', `${PATH}/:clock`, parameters({}), (world, _, { clock: id = '' }) => {
    clockOf(world, id);
    for (const { id: customer } of world.store.customers.filter(({ test_clock }) => test_clock === id)) {
      for (const one of world.store.subscriptions.filter((held) => held.customer === customer))
        world.store.subscriptions.remove(one.id);
      world.store.customers.remove(customer);
    }
    world.store.testClocks.remove(id);
    return { object: { id, object: 'test_helpers.test_clock', deleted: true } };
  }),
];
