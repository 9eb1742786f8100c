import type { CheckoutSession, PortalConfiguration, PortalSession } from './records.js';
import { plain, type WireObject } from './wire-object.js';

export function viewCheckoutSession(record: CheckoutSession): WireObject {
  const { collectsTaxId, lineItems: _, subscriptionData: __, test_clock: ___, ...wire } = record;
  const total = record.amount_total;
  return plain({
    ...wire,
    ...{
      adaptive_pricing: null,
      after_expiration: null,
      allow_promotion_codes: null,
      allowed_payment_method_types: null,
    },
    ...{ amount_subtotal: total, automatic_tax: { enabled: false, liability: null, provider: null, status: null } },
    ...{ billing_address_collection: null, client_secret: null, collected_information: null, consent: null },
    ...{ consent_collection: null, currency_conversion: null, custom_fields: [], custom_text: {} },
    customer_account: null,
    customer_creation: record.customer === null ? 'always' : null,
    customer_details: record.customer_email === null ? null : { email: record.customer_email, name: null, tax_ids: [] },
    ...{ discounts: [], integration_identifier: null, invoice_creation: null, locale: null, managed_payments: null },
    ...{ mode: 'subscription', origin_context: null, payment_intent: null, payment_link: null },
    ...{ payment_method_collection: 'always', payment_method_configuration_details: null },
    ...{ payment_method_options: null, payment_method_types: ['card'], permissions: null },
    phone_number_collection: { enabled: false },
    ...{ recovered_from: null, saved_payment_method_options: null, setup_intent: null },
    ...{ shipping_address_collection: null, shipping_cost: null, shipping_options: [], submit_type: null },
    tax_id_collection: { enabled: collectsTaxId, required: 'never' },
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ...{ ui_mode: 'hosted_page', wallet_options: null },
  });
}

export function viewPortalConfiguration(record: PortalConfiguration): WireObject {
  return plain({ ...record, application: null, login_page: { enabled: false, url: null } });
}

export function viewPortalSession(record: PortalSession): WireObject {
  const { pageToken: _, ...wire } = record;
  return plain({ ...wire, customer_account: null, flow: null, locale: null, on_behalf_of: null });
}
