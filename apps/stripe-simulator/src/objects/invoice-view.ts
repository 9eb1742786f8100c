import type { Invoice, InvoiceLine, InvoicePayment } from './records.js';
import type { Store } from './store.js';
import { decimal, NEVER, pageOf, plain, type WireObject } from './wire-object.js';

/** What is still to be paid, in cents. */
export function amountRemaining(invoice: Invoice): number {
  return invoice.amount_due - invoice.amount_paid - invoice.pre_payment_credit_notes_amount;
}

export function viewInvoice(record: Invoice, store: Store, livemode: boolean): WireObject {
  const {
    lines,
    subscription,
    subscriptionMetadata,
    prorationDate,
    purpose: _,
    pageToken: __,
    paymentIntent: ___,
    ...wire
  } = record;
  const customer = store.customers.get(record.customer);
  return plain({
    ...wire,
    ...{ account_country: 'US', account_name: null, account_tax_ids: null, amount_overpaid: 0, amount_shipping: 0 },
    ...{ amount_remaining: amountRemaining(record), application: null },
    automatic_tax: { ...NEVER.automaticTax, provider: null, status: null },
    ...{ collection_method: 'charge_automatically', custom_fields: null, customer_account: null },
    ...{ customer_address: customer?.address ?? null, customer_email: customer?.email ?? null },
    ...{ customer_name: customer?.name ?? null, customer_phone: customer?.phone ?? null, customer_shipping: null },
    customer_tax_exempt: customer?.tax_exempt ?? 'none',
    customer_tax_ids: (customer?.taxIds ?? []).map(({ type, value }) => ({ type, value })),
    ...{ default_payment_method: null, default_source: null, default_tax_rates: [], description: null, discounts: [] },
    ...{ due_date: null, effective_at: record.status_transitions.finalized_at, footer: null, from_invoice: null },
    invoice_pdf: record.hosted_invoice_url && `${record.hosted_invoice_url}/pdf`,
    ...{ issuer: { type: 'self' }, last_finalization_error: null, latest_revision: null },
    lines: pageOf(
      lines.map((line) => viewLine(line, record, store, livemode)),
      `/v1/invoices/${record.id}/lines`,
    ),
    on_behalf_of: null,
    parent: subscription && {
      quote_details: null,
      subscription_details: {
        ...{ metadata: subscriptionMetadata, subscription },
        ...(prorationDate !== null && { subscription_proration_date: prorationDate }),
      },
      type: 'subscription_details',
    },
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
    ...{ receipt_number: null, rendering: null, shipping_cost: null, shipping_details: null },
    ...{ statement_descriptor: null, subtotal: record.total, subtotal_excluding_tax: record.total },
    ...{ total_discount_amounts: [], total_excluding_tax: record.total, total_pretax_credit_amounts: [] },
    ...{ total_taxes: [], webhooks_delivered_at: null },
  });
}

function viewLine(line: InvoiceLine, invoice: Invoice, store: Store, livemode: boolean): WireObject {
  const { price, isProration, subscriptionItem, invoiceItem, ...wire } = line;
  const record = store.prices.get(price);
  const details = {
    ...{ invoice_item: invoiceItem, proration: isProration, subscription: line.subscription },
    proration_details: { credited_items: null },
  };
  const parent =
    subscriptionItem === null
      ? { invoice_item_details: details, subscription_item_details: null, type: 'invoice_item_details' }
      : {
          invoice_item_details: null,
          subscription_item_details: { ...details, subscription_item: subscriptionItem },
          type: 'subscription_item_details',
        };
  return plain({
    ...wire,
    object: 'line_item',
    ...{ discount_amounts: [], discountable: !isProration, discounts: [], invoice: invoice.id, livemode, metadata: {} },
    ...{ parent, pretax_credit_amounts: [] },
    pricing: {
      price_details: { price, product: record?.product ?? null },
      ...{ type: 'price_details', unit_amount_decimal: decimal(record?.unit_amount ?? 0) },
    },
    ...{ quantity_decimal: decimal(line.quantity), subtotal: line.amount, taxes: [] },
  });
}

export function viewInvoicePayment(record: InvoicePayment): WireObject {
  const { paymentIntent, ...wire } = record;
  return plain({ ...wire, is_default: true, payment: { payment_intent: paymentIntent, type: 'payment_intent' } });
}
