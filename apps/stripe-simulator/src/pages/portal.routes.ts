import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findCard } from '../money/cards.js';
import type { Customer, Subscription } from '../objects/records.js';
import { newId } from '../wire/ids.js';
import { StripeFault } from '../wire/stripe-fault.js';
import { cancelNow } from '../subscriptions/cancelling.js';
import { pauseSubscription, resumeSubscription } from '../subscriptions/pausing.js';
import { replaceDefaultCard } from '../subscriptions/replace-card.js';
import { updateSubscription } from '../subscriptions/updates.js';
import type { World } from '../world/world.js';
import { fieldsOf, show, showNothing, type PageParts } from './answers.js';
import { portalPage, type Portal } from './portal-page.js';

type Deed = (world: World, portal: Portal, fields: Record<string, string>) => string;

/** What a person can do in the portal, each with the words that are shown after it. The feature that allows it is checked before. */
const DEEDS: Record<string, { isAllowed: (portal: Portal) => boolean; act: Deed }> = {
  card: {
    isAllowed: ({ configuration }) => configuration.features.payment_method_update.enabled,
    act: (world, { customer }, fields) => {
      const card = findCard(fields.card ?? '');
      if (!card) throw new StripeFault(400, 'invalid_request_error', 'Pick a card.');
      if (card.token === 'pm_card_chargeDeclined')
        throw new StripeFault(402, 'card_error', 'Your card was declined. Try another one.');
      replaceDefaultCard(world, customer.id, card.token);
      return 'Your card was replaced.';
    },
  },
  cancel: {
    isAllowed: ({ configuration }) => configuration.features.subscription_cancel.enabled,
    act: (world, portal, fields) => {
      const { id } = subscriptionOfPortal(world, portal, fields);
      const { mode, proration_behavior } = portal.configuration.features.subscription_cancel;
      if (mode === 'immediately') {
        cancelNow(world, id, {
          prorate: proration_behavior !== 'none',
          invoiceNow: proration_behavior === 'always_invoice',
        });
        return 'Your subscription is cancelled.';
      }
      updateSubscription(world, id, { cancel_at_period_end: true });
      return 'Your subscription ends with the period that is paid.';
    },
  },
  keep: {
    isAllowed: ({ configuration }) => configuration.features.subscription_cancel.enabled,
    act: (world, portal, fields) => {
      updateSubscription(world, subscriptionOfPortal(world, portal, fields).id, { cancel_at_period_end: false });
      return 'Your subscription goes on.';
    },
  },
  pause: {
    isAllowed: ({ configuration }) => configuration.features.subscription_pause.enabled,
    act: (world, portal, fields) => {
      const { id } = subscriptionOfPortal(world, portal, fields);
      pauseSubscription(world, id, { unusedTimeFrom: 'now', invoicing: 'pending_invoice_item' });
      return 'Your subscription is paused.';
    },
  },
  resume: {
    isAllowed: () => true,
    act: (world, portal, fields) => {
      const { id } = subscriptionOfPortal(world, portal, fields);
      resumeSubscription(world, id, {
        anchor: 'now',
        payment: 'resume_on_payment_attempt',
        proration: 'create_prorations',
      });
      return 'Your subscription goes on.';
    },
  },
  quantity: {
    isAllowed: ({ configuration }) => configuration.features.subscription_update.enabled,
    act: (world, portal, fields) => {
      const subscription = subscriptionOfPortal(world, portal, fields);
      const quantity = Number(fields.quantity);
      if (!Number.isInteger(quantity) || quantity < 1)
        throw new StripeFault(400, 'invalid_request_error', 'The quantity must be a whole number of 1 or more.');
      const { proration_behavior } = portal.configuration.features.subscription_update;
      const items = [{ id: subscription.items[0]?.id, quantity }];
      updateSubscription(world, subscription.id, { items, proration_behavior });
      return 'Your subscription was changed.';
    },
  },
  details: {
    isAllowed: ({ configuration }) => configuration.features.customer_update.enabled,
    act: (world, portal, fields) => {
      changeDetails(world, portal, fields);
      return 'Your details are saved.';
    },
  },
};

function subscriptionOfPortal(world: World, { customer }: Portal, fields: Record<string, string>): Subscription {
  const subscription = world.store.subscriptions.get(fields.subscription ?? '');
  if (subscription?.customer !== customer.id)
    throw new StripeFault(404, 'invalid_request_error', 'There is no such subscription of yours.');
  return subscription;
}

function changeDetails(world: World, { customer, configuration }: Portal, fields: Record<string, string>): void {
  const allowed = configuration.features.customer_update.allowed_updates;
  const { name, email, vat } = fields;
  const changes: Partial<Customer> = {
    ...(allowed.includes('name') && name !== undefined && { name: name === '' ? null : name }),
    ...(allowed.includes('email') && email !== undefined && { email: email === '' ? null : email }),
  };
  const isNewVat = vat !== undefined && vat !== '' && vat !== customer.taxIds.at(-1)?.value;
  if (allowed.includes('tax_id') && isNewVat)
    changes.taxIds = [
      ...customer.taxIds,
      { id: newId('txi'), type: 'eu_vat', value: vat, created: world.nowFor(customer.id) },
    ];
  world.emit('customer.updated', world.store.customers.change(customer.id, changes), customer);
}

export function servePortal(app: FastifyInstance, { world, settle }: PageParts): void {
  const portalOf = (token: string): Portal | undefined => {
    const [session] = world.store.portalSessions.filter(({ pageToken }) => pageToken === token);
    const customer = session && world.store.customers.get(session.customer);
    const configuration = session && world.store.portalConfigurations.get(session.configuration);
    return session && customer && configuration && { session, customer, configuration };
  };
  app.get<{ Params: { token: string } }>('/p/:token', ({ params }, reply) => {
    settle();
    const portal = portalOf(params.token);
    return portal ? show(reply, portalPage(world, portal)) : showNothing(reply);
  });
  app.post(
    '/p/:token/:deed',
    (request: FastifyRequest<{ Params: { token: string; deed: string } }>, reply: FastifyReply) => {
      settle();
      const portal = portalOf(request.params.token);
      const deed = DEEDS[request.params.deed];
      if (!portal || !deed?.isAllowed(portal)) return showNothing(reply);
      try {
        const text = world.store.transact(() => deed.act(world, portal, fieldsOf(request.body)));
        settle();
        return show(reply, portalPage(world, portalOf(request.params.token) ?? portal, { kind: 'status', text }));
      } catch (error) {
        if (!(error instanceof StripeFault)) throw error;
        return show(reply, portalPage(world, portal, { kind: 'alert', text: error.message }), error.status);
      }
    },
  );
}
