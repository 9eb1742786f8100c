import type { CheckoutSession } from '../objects/records.js';
import { amountOf } from '../subscriptions/amounts.js';
import type { World } from '../world/world.js';
import { cardChoices, confirmation } from './cards.js';
import { html, money, page, type Html } from './html.js';

/** The Checkout page of an open session. */
export function checkoutPage(world: World, session: CheckoutSession, problem?: string): string {
  const action = `/c/pay/${session.id}`;
  const isKnown = session.customer !== null;
  const content = html`
    ${problem !== undefined && html`<p role="alert">${problem}</p>`} ${summary(world, session)}
    <form method="post" action="${action}">
      <label
        >Email
        <input
          type="email"
          name="email"
          autocomplete="email"
          required
          value="${session.customer_email ?? ''}"
          ${isKnown && html`readonly`}
      /></label>
      ${cardChoices()} ${session.collectsTaxId && taxId()}
      <button>Subscribe</button>
    </form>
    ${session.cancel_url !== null && html`<p><a href="${session.cancel_url}">Back without paying</a></p>`}
  `;
  return page('Subscribe', content);
}

/** The step at which a bank wants the payment confirmed. */
export function checkoutConfirmation(session: CheckoutSession, fields: Record<string, string>): string {
  const amount = money(session.amount_total, session.currency);
  return page('Confirm your payment', confirmation(`/c/pay/${session.id}`, fields, amount));
}

/** What is shown for a session that is over. */
export function closedCheckoutPage(session: CheckoutSession): string {
  const words =
    session.status === 'complete'
      ? html`<p role="status">This is paid already. Nothing more is charged.</p>`
      : html`<p role="alert">This page has expired. Start again where you came from.</p>`;
  return page('Subscribe', words);
}

function summary(world: World, session: CheckoutSession): Html {
  const rows = session.lineItems.map(({ price, quantity }) => {
    const { name, amount, cadence } = amountOf(world, price, quantity);
    return html`<tr>
      <td>${name}</td>
      <td>${quantity}</td>
      <td>${money(amount, session.currency)} ${cadence}</td>
    </tr>`;
  });
  return html`<section aria-label="Your order">
    <p class="amount">${money(session.amount_total, session.currency)}</p>
    <table>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Quantity</th>
          <th scope="col">Amount</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </section>`;
}

function taxId(): Html {
  return html`<label>Business name <input type="text" name="name" autocomplete="organization" /></label>
    <label>VAT number <input type="text" name="vat" /></label>`;
}
