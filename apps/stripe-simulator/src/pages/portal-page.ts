import type { Customer, Invoice, PortalConfiguration, PortalSession, Subscription } from '../objects/records.js';
import { amountOf } from '../subscriptions/amounts.js';
import type { World } from '../world/world.js';
import { cardChoices, cardName } from './cards.js';
import { date, html, money, page, type Html } from './html.js';

/** All that a portal page shows. */
export interface Portal {
  session: PortalSession;
  customer: Customer;
  configuration: PortalConfiguration;
}

/** The customer portal: what the configuration does not allow is not there. */
export function portalPage(world: World, portal: Portal, words?: { kind: 'alert' | 'status'; text: string }): string {
  const { session, customer, configuration } = portal;
  const { features } = configuration;
  const held = world.store.subscriptions.filter(
    (one) => one.customer === customer.id && one.status !== 'canceled' && one.status !== 'incomplete_expired',
  );
  const content = html`
    ${words && html`<p role="${words.kind}">${words.text}</p>`}
    ${held.map((subscription) => subscriptionSection(world, portal, subscription))}
    ${features.payment_method_update.enabled && cardForm(world, portal, held[0])}
    ${features.customer_update.enabled && detailsForm(portal)}
    ${features.invoice_history.enabled && invoices(world, customer)}
    ${session.return_url !== null && html`<p><a href="${session.return_url}">Return</a></p>`}
  `;
  return page(configuration.business_profile.headline ?? 'Billing', content);
}

function action({ session }: Portal, name: string): string {
  return `/p/${session.pageToken}/${name}`;
}

function subscriptionSection(world: World, portal: Portal, subscription: Subscription): Html {
  const { features } = portal.configuration;
  const rows = subscription.items.map(({ price, quantity }) => {
    const { name, amount, cadence } = amountOf(world, price, quantity);
    return html`<p>${quantity} × ${name}: ${money(amount, subscription.currency)} ${cadence}</p>`;
  });
  const ends = subscription.cancel_at;
  const state = ends === null ? `Status: ${subscription.status}` : `Ends on ${date(ends)}`;
  const button = (name: string, label: string) =>
    html`<form method="post" action="${action(portal, name)}">
      <input type="hidden" name="subscription" value="${subscription.id}" /><button class="quiet">${label}</button>
    </form>`;
  const cancelling = features.subscription_cancel.enabled && subscription.status !== 'paused';
  return html`<section aria-label="Subscription">
    <h2>Subscription</h2>
    ${rows}
    <p>${state}</p>
    ${cancelling && (ends === null ? button('cancel', 'Cancel subscription') : button('keep', 'Keep subscription'))}
    ${subscription.status === 'paused' && button('resume', 'Resume subscription')}
    ${features.subscription_pause.enabled && subscription.status === 'active' && button('pause', 'Pause subscription')}
    ${features.subscription_update.enabled && quantityForm(portal, subscription)}
  </section>`;
}

function quantityForm(portal: Portal, subscription: Subscription): Html {
  return html`<form method="post" action="${action(portal, 'quantity')}">
    <input type="hidden" name="subscription" value="${subscription.id}" />
    <label
      >Quantity <input type="number" name="quantity" min="1" value="${subscription.items[0]?.quantity ?? 1}"
    /></label>
    <button class="quiet">Change quantity</button>
  </form>`;
}

function cardForm(world: World, portal: Portal, subscription: Subscription | undefined): Html {
  const present = cardName(world, portal.customer.defaultPaymentMethod ?? subscription?.default_payment_method ?? null);
  return html`<form method="post" action="${action(portal, 'card')}">
    <h2>Payment method</h2>
    <p>${present === undefined ? 'No card is on file.' : `Card on file: ${present}`}</p>
    ${cardChoices()}
    <button>Replace card</button>
  </form>`;
}

function detailsForm(portal: Portal): Html {
  const { customer, configuration } = portal;
  const allowed = configuration.features.customer_update.allowed_updates;
  const vat = customer.taxIds.at(-1)?.value ?? '';
  return html`<form method="post" action="${action(portal, 'details')}">
    <h2>Billing details</h2>
    ${allowed.includes('name') && html`<label>Name <input type="text" name="name" value="${customer.name ?? ''}" /></label>`}
    ${allowed.includes('email') && html`<label>Email <input type="email" name="email" value="${customer.email ?? ''}" /></label>`}
    ${allowed.includes('tax_id') && html`<label>VAT number <input type="text" name="vat" value="${vat}" /></label>`}
    <button>Save details</button>
  </form>`;
}

function invoices(world: World, customer: Customer): Html {
  const shown = world.store.invoices.filter(
    ({ customer: owner, status }) => owner === customer.id && status !== 'draft',
  );
  const rows = shown.reverse().map((invoice) => row(invoice));
  return html`<section aria-label="Invoices">
    <h2>Invoices</h2>
    <table>
      <thead>
        <tr>
          <th scope="col">Number</th>
          <th scope="col">Date</th>
          <th scope="col">Amount</th>
          <th scope="col">State</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </section>`;
}

function row(invoice: Invoice): Html {
  return html`<tr>
    <td><a href="/i/${invoice.pageToken}">${invoice.number}</a></td>
    <td>${date(invoice.created)}</td>
    <td>${money(invoice.amount_due, invoice.currency)}</td>
    <td>${invoice.status}</td>
  </tr>`;
}
