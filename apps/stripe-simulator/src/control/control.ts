// The control API: what tests and people do with the simulator itself. It is JSON, needs no key, and goes on while the
// simulator is away.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { newId } from '../wire/ids.js';
import { noSuch, StripeFault } from '../wire/stripe-fault.js';
import type { Sender } from '../deliveries/sender.js';
import type { RequestLog } from '../http/request-log.js';
import { findCard } from '../money/cards.js';
import { payCheckout } from '../subscriptions/checkout.js';
import { changeSubscription, subscriptionOf } from '../subscriptions/changing.js';
import { replaceCard } from '../subscriptions/replace-card.js';
import type { World } from '../world/world.js';
import type { Faults } from '../faults/faults.js';

/** What the control API acts on. */
export interface ControlParts {
  world: World;
  faults: Faults;
  sender: Sender;
  log: RequestLog;
  /** Moves the simulator's own time to this second and does all that falls due on the way. */
  advanceTo: (seconds: number) => void;
  settle: () => void;
}

const rule = z.strictObject({
  kind: z.enum(['fail', 'fail_kept', 'slow', 'drop_answer', 'rate_limit', 'hold']),
  method: z.enum(['GET', 'POST', 'DELETE']).optional(),
  path: z.string().startsWith('/v1').optional(),
  oneIn: z.number().min(1).default(1),
  times: z.number().int().positive().optional(),
  delayMs: z.number().int().min(0).default(1000),
  status: z.number().int().min(500).max(599).default(500),
});
const webhooks = z.strictObject({
  mode: z.enum(['send', 'hold', 'lose']).optional(),
  isDoubled: z.boolean().optional(),
  isShuffled: z.boolean().optional(),
  retryAfterMs: z.array(z.number().int().min(0)).optional(),
});
const collection = z.strictObject({
  finalizeAfterSeconds: z.number().int().min(0).optional(),
  retryAfterSeconds: z.array(z.number().int().positive()).optional(),
  afterLastRetry: z.enum(['cancel', 'unpaid', 'past_due', 'pause']).optional(),
});
const settings = z.strictObject({
  collection: collection.optional(),
  searchDelayMs: z.number().int().min(0).optional(),
});
const time = z.union([
  z.strictObject({ to: z.number().int().positive() }),
  z.strictObject({ advanceSeconds: z.number().int().positive() }),
]);
const card = z
  .string()
  .refine((given) => findCard(given) !== undefined, { error: 'must be the name or the number of a test card' });
const checkoutPayment = z.strictObject({ card, isConfirmed: z.boolean().default(true), email: z.email().optional() });

export function serveControl(app: FastifyInstance, parts: ControlParts): void {
  serveState(app, parts);
  serveFaults(app, parts);
  serveWebhooks(app, parts);
  servePeople(app, parts);
}

function serveState(app: FastifyInstance, { world, faults, sender, log, advanceTo }: ControlParts): void {
  app.get('/_simulator', () => ({
    ...{ now: world.now(null), collection: world.state.collection, webhooks: world.state.webhooks },
    ...{ faults: world.state.faults, isAway: world.state.isAway, searchDelayMs: world.state.searchDelayMs },
    ...{ heldRequests: faults.heldRequests, pendingWebhooks: sender.pending },
    heldWebhooks: world.store.deliveries.filter(({ state }) => state === 'held').length,
  }));
  app.get<{ Querystring: { after?: string } }>('/_simulator/requests', ({ query }) => ({
    requests: log.after(Number(query.after ?? 0)),
  }));
  app.patch('/_simulator/settings', ({ body }) => {
    const given = settings.parse(body);
    world.changeState({
      ...(given.searchDelayMs !== undefined && { searchDelayMs: given.searchDelayMs }),
      collection: { ...world.state.collection, ...defined(given.collection ?? {}) },
    });
    return { collection: world.state.collection, searchDelayMs: world.state.searchDelayMs };
  });
  app.post('/_simulator/clock', ({ body }) => {
    const given = time.parse(body);
    const to = 'to' in given ? given.to : world.now(null) + given.advanceSeconds;
    if (to < world.now(null)) throw new StripeFault(400, 'invalid_request_error', 'Time moves forward only.');
    advanceTo(to);
    return { now: world.now(null) };
  });
  app.post('/_simulator/away', ({ body }) => {
    const { isAway } = z.strictObject({ isAway: z.boolean() }).parse(body);
    world.changeState({ isAway });
    sender.kick();
    return { isAway };
  });
}

function serveFaults(app: FastifyInstance, { faults, world }: ControlParts): void {
  app.post('/_simulator/faults', ({ body }) => faults.add(rule.parse(body)));
  app.delete('/_simulator/faults', () => {
    faults.clear();
    return { faults: [] };
  });
  app.delete<{ Params: { fault: string } }>('/_simulator/faults/:fault', ({ params }) => {
    const left = world.state.faults.filter(({ id }) => id !== params.fault);
    if (left.length === world.state.faults.length) throw noSuch('fault', params.fault);
    world.changeState({ faults: left });
    return { faults: left };
  });
  app.post('/_simulator/requests/release', () => ({ released: faults.release() }));
}

function serveWebhooks(app: FastifyInstance, { world, sender }: ControlParts): void {
  app.patch('/_simulator/webhooks', ({ body }) => {
    world.changeState({ webhooks: { ...world.state.webhooks, ...defined(webhooks.parse(body)) } });
    return world.state.webhooks;
  });
  app.post('/_simulator/webhooks/release', ({ body }) => {
    const { isShuffled } = z.strictObject({ isShuffled: z.boolean().default(false) }).parse(body ?? {});
    return { released: sender.release(isShuffled) };
  });
  // A new secret: the one before it signs along for a while.
  app.post<{ Params: { endpoint: string } }>('/_simulator/webhook_endpoints/:endpoint/roll', ({ params, body }) => {
    const { keepForMs } = z.strictObject({ keepForMs: z.number().int().min(0).default(86_400_000) }).parse(body ?? {});
    const endpoint = world.store.webhookEndpoints.get(params.endpoint);
    if (!endpoint) throw noSuch('webhook endpoint', params.endpoint);
    const secret = newId('whsec');
    const untilMs = world.options.wallMs() + keepForMs;
    const earlier = endpoint.secrets.map((one) => ({ ...one, untilMs: one.untilMs ?? untilMs }));
    world.store.transact(() =>
      world.store.webhookEndpoints.change(endpoint.id, { secrets: [{ secret, untilMs: null }, ...earlier] }),
    );
    return { secret };
  });
  // An event once more, with fields of it changed if that is wanted, such as `{"livemode": true}`.
  app.post<{ Params: { event: string } }>('/_simulator/events/:event/send', async ({ params, body }) => {
    const event = world.store.events.get(params.event);
    if (!event) throw noSuch('event', params.event);
    const changes = z.record(z.string(), z.json()).parse(body ?? {});
    return { answers: await sender.sendOnce({ ...world.views.of(event), ...changes }) };
  });
}

function servePeople(app: FastifyInstance, { world, settle }: ControlParts): void {
  // What somebody does on the Checkout page.
  app.post<{ Params: { session: string } }>('/_simulator/checkout/:session/pay', ({ params, body }) => {
    const given = checkoutPayment.parse(body);
    const payment = {
      cardToken: findCard(given.card)?.token ?? '',
      isConfirmed: given.isConfirmed,
      email: given.email,
    };
    const session = world.store.transact(() => payCheckout(world, params.session, payment));
    settle();
    return world.views.of(session);
  });
  // Another card for all that a customer pays, as in the portal.
  app.post<{ Params: { customer: string } }>('/_simulator/customers/:customer/card', ({ params, body }) => {
    const given = z.strictObject({ card }).parse(body);
    if (!world.store.customers.get(params.customer)) throw noSuch('customer', params.customer);
    const added = world.store.transact(() => replaceCard(world, params.customer, findCard(given.card)?.token ?? ''));
    return world.views.of(added);
  });
  // A state that the API knows no way to, such as a status that a later version may bring.
  app.post<{ Params: { subscription: string } }>(
    '/_simulator/subscriptions/:subscription/status',
    ({ params, body }) => {
      const { status } = z.strictObject({ status: z.string().min(1) }).parse(body);
      const changed = world.store.transact(() =>
        changeSubscription(world, subscriptionOf(world, params.subscription).id, { status }),
      );
      return world.views.of(changed);
    },
  );
}

/** What was given of some optional fields. */
function defined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
