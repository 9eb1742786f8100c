// The hosted pages: Checkout, the customer portal and invoices. Each address holds a token that cannot be guessed; that is
// the key to it.
import type { FastifyInstance } from 'fastify';
import type { Invoice } from '../objects/records.js';
import { collect } from '../subscriptions/collection.js';
import { changeSubscription } from '../subscriptions/changing.js';
import { payCheckout } from '../subscriptions/checkout.js';
import { findCard } from '../money/cards.js';
import { addCard } from '../subscriptions/payments.js';
import { StripeFault } from '../wire/stripe-fault.js';
import type { World } from '../world/world.js';
import { fieldsOf, show, showNothing, type PageParts } from './answers.js';
import { ON_FILE } from './cards.js';
import { checkoutConfirmation, checkoutPage, closedCheckoutPage } from './checkout-page.js';
import { STYLES } from './html.js';
import { invoiceConfirmation, invoicePage } from './invoice-page.js';
import { textPdf } from './pdf.js';
import { servePortal } from './portal.routes.js';

export function servePages(app: FastifyInstance, parts: PageParts): void {
  app.get('/_simulator/pages.css', (_, reply) => reply.type('text/css').send(STYLES));
  serveCheckout(app, parts);
  serveInvoices(app, parts);
  servePortal(app, parts);
}

const REFUSED = 'You refused the payment. Nothing was charged.';

function serveCheckout(app: FastifyInstance, { world, settle }: PageParts): void {
  const session = (id: string) => world.store.checkoutSessions.get(id);
  app.get<{ Params: { session: string } }>('/c/pay/:session', ({ params }, reply) => {
    settle();
    const present = session(params.session);
    if (!present) return showNothing(reply);
    return show(reply, present.status === 'open' ? checkoutPage(world, present) : closedCheckoutPage(present));
  });
  app.post<{ Params: { session: string } }>('/c/pay/:session', ({ params, body }, reply) => {
    settle();
    const present = session(params.session);
    if (!present) return showNothing(reply);
    if (present.status !== 'open') return show(reply, closedCheckoutPage(present));
    const fields = fieldsOf(body);
    const card = findCard(fields.card ?? '');
    if (!card) return show(reply, checkoutPage(world, present, 'Pick a card.'), 400);
    if (fields.confirmed === 'no') return show(reply, checkoutPage(world, present, REFUSED));
    const { email, name, vat } = fields;
    const payment = {
      ...{ cardToken: card.token, isConfirmed: fields.confirmed === 'yes', email, name },
      taxId: vat === undefined || vat === '' ? undefined : { type: 'eu_vat', value: vat },
    };
    try {
      const paid = world.store.transact(() => payCheckout(world, present.id, payment));
      settle();
      return reply.redirect(paid.success_url.replaceAll('{CHECKOUT_SESSION_ID}', paid.id), 303);
    } catch (error) {
      if (!(error instanceof StripeFault)) throw error;
      if (error.details.code === 'invoice_payment_intent_requires_action')
        return show(reply, checkoutConfirmation(present, { card: card.token, ...kept({ email, name, vat }) }));
      return show(reply, checkoutPage(world, present, `${error.message} Try another one.`), 402);
    }
  });
}

function kept(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function serveInvoices(app: FastifyInstance, { world, settle }: PageParts): void {
  const invoice = (token: string) =>
    world.store.invoices.filter(({ pageToken, status }) => pageToken === token && status !== 'draft')[0];
  app.get<{ Params: { token: string } }>('/i/:token', ({ params }, reply) => {
    settle();
    const present = invoice(params.token);
    return present ? show(reply, invoicePage(world, present)) : showNothing(reply);
  });
  app.get<{ Params: { token: string } }>('/i/:token/pdf', ({ params }, reply) => {
    const present = invoice(params.token);
    return present ? reply.type('application/pdf').send(textPdf(pdfLines(present))) : showNothing(reply);
  });
  app.post<{ Params: { token: string } }>('/i/:token', ({ params, body }, reply) => {
    settle();
    const present = invoice(params.token);
    if (!present) return showNothing(reply);
    if (present.status !== 'open' && present.status !== 'uncollectible')
      return show(reply, invoicePage(world, present));
    const fields = fieldsOf(body);
    const picked = fields.card ?? '';
    if (picked !== ON_FILE && !findCard(picked)) return show(reply, invoicePage(world, present, 'Pick a card.'), 400);
    if (fields.confirmed === 'no') return show(reply, invoicePage(world, present, REFUSED));
    const payment = world.store.transact(() => payInvoice(world, present, picked, fields.confirmed === 'yes'));
    settle();
    if (payment.outcome === 'needs_confirmation') return show(reply, invoiceConfirmation(present, { card: picked }));
    if (payment.outcome !== 'succeeds')
      return show(reply, invoicePage(world, present, `${payment.message} Try another card.`), 402);
    return reply.redirect(`/i/${params.token}`, 303);
  });
}

/** Pays with the card on file or a new one, which becomes that of the subscription if it works. */
function payInvoice(world: World, invoice: Invoice, picked: string, isConfirmed: boolean) {
  const added = picked === ON_FILE ? undefined : addCard(world, findCard(picked)?.token ?? '', invoice.customer);
  const payment = collect(world, invoice.id, {
    isAutomatic: false,
    isPresent: true,
    isConfirmed,
    paymentMethod: added?.id,
  });
  if (!added) return payment;
  if (payment.outcome !== 'succeeds') {
    world.store.paymentMethods.change(added.id, { customer: null });
    return payment;
  }
  world.emit('payment_method.attached', added);
  if (invoice.subscription !== null)
    changeSubscription(world, invoice.subscription, { default_payment_method: added.id });
  return payment;
}

function pdfLines(invoice: Invoice): string[] {
  const amount = (cents: number) => `${(cents / 100).toFixed(2)} ${invoice.currency.toUpperCase()}`;
  return [
    `Invoice ${invoice.number ?? ''}`,
    `State: ${invoice.status}`,
    ...invoice.lines.map((line) => `${amount(line.amount)}  ${line.description}`),
    `Total: ${amount(invoice.total)}`,
    `Due: ${amount(invoice.amount_due)}`,
  ];
}
