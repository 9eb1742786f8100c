// How records look on the wire in this version of the API. A view names every field that the version has; those that
// this simulator never fills are null, false or empty as they would be for an account that does not use them.
import type { Wire } from '../wire/expansion.js';
import { findCard } from '../money/cards.js';
import { viewInvoice, viewInvoicePayment } from './invoice-view.js';
import type { AnyRecord, Customer, PaymentMethod, Price, Product, StripeEvent } from './records.js';
import { deliveryId } from './delivery-id.js';
import type { Store } from './store.js';
import { viewSubscription } from './subscription-view.js';
import { NEVER, pageOf, plain, type WireObject } from './wire-object.js';
import { viewCheckoutSession, viewPortalConfiguration, viewPortalSession } from './page-view.js';
import { viewCharge, viewCreditNote, viewPaymentIntent, viewRefund } from './payment-view.js';
import { viewPrice } from './price-view.js';

/** Views of records, and what expansion takes from them. */
export class Views {
  constructor(
    private readonly store: Store,
    private readonly livemode: boolean,
  ) {}

  /** A record as it is on the wire; undefined for what has no place there. */
  of(record: AnyRecord): WireObject {
    const fields = this.fields(record);
    return record.object === 'refund' ? fields : { ...fields, livemode: this.livemode };
  }

  byId(id: string): WireObject | undefined {
    const record = this.store.find(id);
    return record && this.of(record);
  }

  /** What objects have only when it is expanded. */
  extra(object: WireObject, field: string): Wire | undefined {
    const id = typeof object.id === 'string' ? object.id : '';
    switch (`${typeof object.object === 'string' ? object.object : ''}.${field}`) {
      case 'invoice.payments': {
        const payments = this.store.invoicePayments.filter(({ invoice }) => invoice === id);
        return pageOf(
          payments.map((one) => this.of(one)),
          `/v1/invoice_payments?invoice=${id}`,
        );
      }
      case 'checkout.session.line_items':
        return this.lineItems(id);
      case 'customer.subscriptions': {
        const held = this.store.subscriptions.filter(
          ({ customer, status }) => customer === id && status !== 'canceled',
        );
        return pageOf(
          held.reverse().map((one) => this.of(one)),
          `/v1/customers/${id}/subscriptions`,
        );
      }
      case 'customer.tax_ids':
        return pageOf(this.taxIds(id), `/v1/customers/${id}/tax_ids`);
      case 'charge.refunds': {
        const refunds = this.store.refunds.filter(({ charge }) => charge === id);
        return pageOf(
          refunds.map((one) => this.of(one)),
          `/v1/charges/${id}/refunds`,
        );
      }
      default:
        return undefined;
    }
  }

  private lineItems(session: string): Wire {
    const items = this.store.checkoutSessions.get(session)?.lineItems ?? [];
    const views = items.flatMap(({ id, price, quantity }) => {
      const record = this.store.prices.get(price);
      if (!record) return [];
      const amount = record.unit_amount * quantity;
      const product = this.store.products.get(record.product);
      return [
        {
          ...{ id, object: 'item', adjustable_quantity: null, amount_discount: 0, amount_subtotal: amount },
          ...{ amount_tax: 0, amount_total: amount, currency: record.currency, description: product?.name ?? null },
          ...{ metadata: {}, price: this.of(record), quantity },
        },
      ];
    });
    return pageOf(views, `/v1/checkout/sessions/${session}/line_items`);
  }

  private taxIds(customer: string): WireObject[] {
    return (this.store.customers.get(customer)?.taxIds ?? []).map(({ id, type, value, created }) => ({
      ...{ id, object: 'tax_id', country: null, created, customer, customer_account: null, livemode: this.livemode },
      ...{ owner: { type: 'customer', customer }, type, value, verification: null },
    }));
  }

  private fields(record: AnyRecord): WireObject {
    switch (record.object) {
      case 'customer':
        return record.deleted === true ? { id: record.id, object: 'customer', deleted: true } : viewCustomer(record);
      case 'product':
        return viewProduct(record);
      case 'price':
        return viewPrice(record, this.livemode);
      case 'payment_method':
        return viewPaymentMethod(record);
      case 'subscription':
        return viewSubscription(record, (id) => this.price(id), this.livemode);
      case 'invoice':
        return viewInvoice(record, this.store, this.livemode);
      case 'invoice_payment':
        return viewInvoicePayment(record);
      case 'payment_intent':
        return viewPaymentIntent(record);
      case 'charge':
        return viewCharge(record);
      case 'refund':
        return viewRefund(record);
      case 'credit_note':
        return viewCreditNote(record, this.store);
      case 'checkout.session':
        return viewCheckoutSession(record);
      case 'billing_portal.configuration':
        return viewPortalConfiguration(record);
      case 'billing_portal.session':
        return viewPortalSession(record);
      case 'webhook_endpoint': {
        const { secrets: _, ...wire } = record;
        return plain({ ...wire, application: null });
      }
      case 'event':
        return viewEvent(record, this.store);
      case 'test_helpers.test_clock': {
        const { target, ...wire } = record;
        return plain({ ...wire, status_details: target === null ? {} : { advancing: { target_frozen_time: target } } });
      }
      default:
        throw new Error(`${record.object} has no view.`);
    }
  }

  private price(id: string): Price {
    const price = this.store.prices.get(id);
    if (!price) throw new Error(`There is no price ${id}.`);
    return price;
  }
}

function viewCustomer(record: Customer): WireObject {
  const { defaultPaymentMethod, taxIds: _, searchableAtMs: __, ...wire } = record;
  return plain({
    ...wire,
    ...{ customer_account: null, default_source: null, delinquent: false, discount: null, preferred_locales: [] },
    invoice_settings: {
      ...{ custom_fields: null, default_payment_method: defaultPaymentMethod, footer: null, rendering_options: null },
    },
    shipping: null,
  });
}

function viewProduct(record: Product): WireObject {
  return plain({
    ...record,
    ...{ default_price: null, images: [], marketing_features: [], package_dimensions: null, shippable: null },
    ...{ tax_details: null, type: 'service' },
  });
}

function viewPaymentMethod(record: PaymentMethod): WireObject {
  const { cardToken, email, payments: _, ...wire } = record;
  const card = findCard(cardToken);
  return plain({
    ...wire,
    allow_redisplay: 'always',
    billing_details: { address: NEVER.address, email, name: null, phone: null, tax_id: null },
    card: {
      ...{ brand: card?.brand ?? 'unknown', checks: null, country: 'US', display_brand: card?.brand ?? null },
      ...{ exp_month: 12, exp_year: 2040, fingerprint: null, funding: 'credit', generated_from: null },
      ...{ last4: card?.number.slice(-4) ?? '0000', networks: null, regulated_status: 'unregulated' },
      ...{ three_d_secure_usage: { supported: true }, wallet: null },
    },
    customer_account: null,
    type: 'card',
  });
}

function viewEvent(record: StripeEvent, store: Store): WireObject {
  const waiting = [...store.webhookEndpoints.oldestFirst()].filter(({ id }) => {
    const state = store.deliveries.get(deliveryId(record.id, id))?.state;
    return state === 'waiting' || state === 'held';
  });
  return plain({ ...record, pending_webhooks: waiting.length });
}
