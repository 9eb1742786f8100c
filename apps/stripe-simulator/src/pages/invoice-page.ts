import { amountRemaining } from '../objects/invoice-view.js';
import type { Invoice } from '../objects/records.js';
import { methodFor } from '../subscriptions/payments.js';
import type { World } from '../world/world.js';
import { cardChoices, cardName, confirmation } from './cards.js';
import { date, html, money, page, type Html } from './html.js';

/** The page of an invoice, with what is needed to pay it as long as it is open. */
export function invoicePage(world: World, invoice: Invoice, problem?: string): string {
  const title = `Invoice ${invoice.number ?? ''}`;
  const canBePaid = invoice.status === 'open' || invoice.status === 'uncollectible';
  const state =
    invoice.status === 'paid'
      ? html`<p role="status">Paid on ${date(invoice.status_transitions.paid_at ?? 0)}.</p>`
      : invoice.status === 'void' && html`<p role="status">This invoice is void. Nothing is owed.</p>`;
  const content = html`
    ${problem !== undefined && html`<p role="alert">${problem}</p>`} ${state} ${lines(invoice)}
    ${canBePaid && payForm(world, invoice)}
    <p><a href="/i/${invoice.pageToken}/pdf">Download the invoice</a></p>
  `;
  return page(title, content);
}

/** The step at which a bank wants the payment confirmed. */
export function invoiceConfirmation(invoice: Invoice, fields: Record<string, string>): string {
  const amount = money(amountRemaining(invoice), invoice.currency);
  return page('Confirm your payment', confirmation(`/i/${invoice.pageToken}`, fields, amount));
}

function payForm(world: World, invoice: Invoice): Html {
  return html`<form method="post" action="/i/${invoice.pageToken}">
    <h2>Pay ${money(amountRemaining(invoice), invoice.currency)}</h2>
    ${cardChoices(cardName(world, methodFor(world, invoice)))}
    <button>Pay</button>
  </form>`;
}

function lines(invoice: Invoice): Html {
  const rows = invoice.lines.map(
    ({ description, amount, period }) =>
      html`<tr>
        <td>${description}<br />${date(period.start)} to ${date(period.end)}</td>
        <td>${money(amount, invoice.currency)}</td>
      </tr>`,
  );
  return html`<section aria-label="What is invoiced">
    <p class="amount">${money(invoice.amount_due, invoice.currency)}</p>
    <table>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Amount</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">Total</th>
          <td>${money(invoice.total, invoice.currency)}</td>
        </tr>
      </tfoot>
    </table>
  </section>`;
}
