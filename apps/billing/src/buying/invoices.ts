import type { InvoiceList } from '@dormouse/management-contract';
import type { Stripe } from 'stripe';
import { atStripe } from '../stripe/stripe-client.js';

/**
 * A page of a customer's invoices, newest first; drafts are left out.
 * @param page `after`: the cursor of the page before
 * @throws {StripeAwayError} @throws {StripeRefusedError} for an unknown cursor
 */
export async function listInvoices(
  stripe: Stripe,
  customer: string,
  page: { count: number; after?: string },
): Promise<InvoiceList> {
  const found = await atStripe(() =>
    stripe.invoices.list({
      customer,
      limit: page.count,
      ...(page.after === undefined ? {} : { starting_after: page.after }),
    }),
  );
  const last = found.data.at(-1);
  return {
    invoices: found.data.filter(({ status }) => status !== 'draft').map(recordOf),
    next: found.has_more && last ? last.id : null,
  };
}

function recordOf(invoice: Stripe.Invoice): InvoiceList['invoices'][number] {
  return {
    id: invoice.id,
    number: invoice.number,
    status: invoice.status,
    created_at: invoice.created,
    amount: invoice.total,
    amount_due: invoice.amount_remaining,
    currency: invoice.currency,
    url: invoice.hosted_invoice_url ?? null,
    pdf: invoice.invoice_pdf ?? null,
  };
}
