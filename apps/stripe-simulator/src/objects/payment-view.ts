import type { Charge, CreditNote, PaymentIntent, Refund } from './records.js';
import type { Store } from './store.js';
import { NEVER, pageOf, plain, type WireObject } from './wire-object.js';

export function viewPaymentIntent(record: PaymentIntent): WireObject {
  const { invoice: _, ...wire } = record;
  return plain({
    ...wire,
    ...{ allowed_payment_method_types: null, amount_capturable: 0, application: null, application_fee_amount: null },
    ...{ automatic_payment_methods: null, cancellation_reason: null, capture_method: 'automatic' },
    ...{ confirmation_method: 'automatic', customer_account: null, description: null },
    ...{ excluded_payment_method_types: null, managed_payments: null },
    next_action:
      record.status === 'requires_action'
        ? { type: 'use_stripe_sdk', use_stripe_sdk: { type: 'three_d_secure_redirect' } }
        : null,
    ...{ on_behalf_of: null, payment_method_configuration_details: null, payment_method_options: {} },
    ...{ payment_method_types: ['card'], payment_record: null, processing: null, receipt_email: null, review: null },
    ...{ setup_future_usage: 'off_session', shipping: null, source: null, statement_descriptor: null },
    ...{ statement_descriptor_suffix: null, transfer_data: null, transfer_group: null },
  });
}

export function viewCharge(record: Charge): WireObject {
  return plain({
    ...record,
    ...{ amount_captured: record.paid ? record.amount : 0, application: null, application_fee: null },
    ...{ application_fee_amount: null, balance_transaction: null },
    billing_details: { address: NEVER.address, email: null, name: null, phone: null, tax_id: null },
    ...{ calculated_statement_descriptor: null, captured: record.paid, description: null, disputed: false },
    ...{ failure_balance_transaction: null, fraud_details: {}, on_behalf_of: null, outcome: null },
    ...{ payment_method_details: null, receipt_email: null, receipt_number: null, receipt_url: null, review: null },
    ...{ shipping: null, source: null, source_transfer: null, statement_descriptor: null },
    ...{ statement_descriptor_suffix: null, transfer_data: null, transfer_group: null },
  });
}

export function viewRefund(record: Refund): WireObject {
  return plain({
    ...record,
    ...{ balance_transaction: null, customer_account: null, payment_method: null, receipt_number: null },
    ...{ source_transfer_reversal: null, transfer_reversal: null },
  });
}

export function viewCreditNote(record: CreditNote, store: Store): WireObject {
  const lines = store.invoices.get(record.invoice)?.lines ?? [];
  return plain({
    ...record,
    ...{ amount_shipping: 0, customer_account: null, customer_balance_transaction: null, discount_amount: 0 },
    ...{ discount_amounts: [], effective_at: record.created },
    lines: pageOf(
      lines.slice(0, 1).map(({ description }) => ({
        ...{ id: `cnli_${record.id}`, object: 'credit_note_line_item', amount: record.amount, description },
        ...{ discount_amount: 0, discount_amounts: [], invoice_line_item: null, livemode: false, metadata: {} },
        ...{ pretax_credit_amounts: [], quantity: 1, tax_rates: [], taxes: [], type: 'custom_line_item' },
        ...{ unit_amount: record.amount, unit_amount_decimal: String(record.amount) },
      })),
      `/v1/credit_notes/${record.id}/lines`,
    ),
    ...{ pdf: `https://pay.stripe.invalid/credit_notes/${record.id}/pdf`, pretax_credit_amounts: [] },
    ...{ shipping_cost: null, status: 'issued', subtotal: record.amount, subtotal_excluding_tax: record.amount },
    ...{ total: record.amount, total_excluding_tax: record.amount, total_taxes: [] },
    type: record.post_payment_amount > 0 ? 'post_payment' : 'pre_payment',
    voided_at: null,
  });
}
