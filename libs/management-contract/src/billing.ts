import { z } from 'zod';
import { wholeNumber } from './fields.js';

/** More numbers than this nobody buys by mistake. */
const MOST_NUMBERS = 10_000;

const numbers = (low: number) =>
  z
    .int(`must be a whole number from ${low} to ${MOST_NUMBERS}`)
    .min(low, `must be at least ${low}`)
    .max(MOST_NUMBERS, `must be at most ${MOST_NUMBERS}`);

/** ISO 4217, in small letters. */
const currency = z.string();
/** In the smallest unit of the currency: cents. */
const amount = z.int();

/** An invoice that waits for payment. */
export const openPayment = z.object({
  kind: z
    .enum(['renewal', 'numbers'])
    .describe(
      '`renewal`: a period that was not paid; `numbers`: further numbers that wait for their payment, and stay unpaid till then.',
    ),
  amount,
  currency,
  url: z.string().nullable().describe("Stripe's page on which it can be paid."),
  until: z
    .int()
    .nullable()
    .describe(
      'Epoch seconds: for `renewal` until when every number is served without the payment, for `numbers` when the offer ends.',
    ),
});

/** Answer of GET /billing. */
export const billingRecord = z.object({
  plan: z
    .enum(['off', 'free', 'paid'])
    .describe('`off`: this installation charges nothing, and every number is served.'),
  status: z
    .string()
    .nullable()
    .describe("Stripe's word for the subscription: `active`, `past_due` and others; null: there is none."),
  numbers: z
    .int()
    .nullable()
    .describe('Numbers that count: linked once, and not deleted. Null: billing is off, and counts nothing.'),
  free: z.int().nullable().describe('How many of them are free; there may be fewer. Null: billing is off.'),
  bought: z.int().describe('How many further ones are paid for in this period.'),
  limit: z.int().describe('Up to how many further ones are bought without asking when a number is linked; 0: none.'),
  price: z.object({ amount, currency }).nullable().describe('Of a further number for a month.'),
  period_end: z.int().nullable().describe('Epoch seconds.'),
  cancel_at_period_end: z.boolean(),
  next_invoice: z
    .object({ at: z.int(), numbers: z.int(), amount, currency })
    .nullable()
    .describe('What the next period will cost, without taxes; null: nothing is charged.'),
  open: z.array(openPayment),
});
export type BillingRecord = z.output<typeof billingRecord>;
export type OpenPayment = z.output<typeof openPayment>;

/** The record of every account of an installation that charges nothing. */
export const BILLING_OFF: BillingRecord = {
  plan: 'off',
  status: null,
  numbers: null,
  free: null,
  bought: 0,
  limit: 0,
  price: null,
  period_end: null,
  cancel_at_period_end: false,
  next_invoice: null,
  open: [],
};

/** Query of GET /billing/numbers. */
export const billedNumbersQuery = z.object({
  count: wholeNumber(1, 500, 100),
  offset: wholeNumber(0, 999_999_999, 0),
});
export type BilledNumbersQuery = z.output<typeof billedNumbersQuery>;

/** A number that counts, and why it costs what it does. */
export const billedNumber = z.object({
  /** Id of its channel. */
  channel: z.string(),
  region: z.string(),
  /** Epoch seconds. */
  first_linked_at: z.int(),
  /** `free`: one of the free places; `covered`: of a place that was bought; `beyond`: no place is left for it. In the order of first links. */
  place: z.enum(['free', 'covered', 'beyond']),
  /** `good`: it is served; else why it is refused. A change reaches the region within seconds. */
  standing: z.enum(['good', 'past_due', 'over_free_allowance']),
});

/** Answer of GET /billing/numbers, in the order of first links. Empty while billing is off. */
export const billedNumberList = z.object({
  numbers: z.array(
    billedNumber.extend({
      /** Name of the channel. */
      name: z.string().optional(),
    }),
  ),
  total: z.int(),
});
export type BilledNumberList = z.output<typeof billedNumberList>;

/** Body of PATCH /billing. */
export const changeBillingBody = z.object({
  limit: numbers(0).describe('The new limit; 0: nothing is bought without asking.'),
  preview: z
    .string('must be the id of a preview')
    .max(100, 'must be the id of a preview')
    .nullish()
    .describe('Needed to raise it: a preview for at least so many numbers, made in the last 30 minutes.'),
});
export type ChangeBillingBody = z.output<typeof changeBillingBody>;

/** Body of POST /billing/preview. */
export const previewBody = z.object({
  numbers: numbers(1).describe('How many numbers, beside the free ones, the account shall have in all.'),
});
export type PreviewBody = z.output<typeof previewBody>;

/** Answer of POST /billing/preview. */
export const billingPreview = z.object({
  preview: z.string().describe('Id of the preview, for PATCH /billing.'),
  numbers: z.int(),
  /** Charged at once if so many are bought now: for the rest of the period. */
  amount,
  currency,
  price: amount.describe('Of each number for a whole month.'),
});
export type BillingPreview = z.output<typeof billingPreview>;

/** Body of POST /billing/checkout. */
export const checkoutBody = z.object({
  numbers: numbers(1)
    .nullish()
    .describe('How many numbers to buy, beside the free ones. Absent: those that are not covered now, at least one.'),
});
export type CheckoutBody = z.output<typeof checkoutBody>;

/** Answer of POST /billing/checkout and POST /billing/portal: a page of Stripe to send the person to. */
export const billingPage = z.object({ url: z.string() });
export type BillingPage = z.output<typeof billingPage>;

/** Query of GET /billing/invoices. */
export const invoicesQuery = z.object({
  count: wholeNumber(1, 100, 20),
  after: z
    .string()
    .regex(/^in_[A-Za-z0-9_]{1,100}$/, 'must be next of an earlier page')
    .optional()
    .describe('`next` of the page before.'),
});
export type InvoicesQuery = z.output<typeof invoicesQuery>;

/** Answer of GET /billing/invoices, newest first. */
export const invoiceList = z.object({
  invoices: z.array(
    z.object({
      id: z.string(),
      number: z.string().nullable(),
      status: z.string().nullable().describe("Stripe's word: `open`, `paid`, `void`, `uncollectible`."),
      created_at: z.int().describe('Epoch seconds.'),
      amount,
      amount_due: amount,
      currency,
      url: z.string().nullable(),
      pdf: z.string().nullable(),
    }),
  ),
  next: z.string().nullable().describe('Cursor of the next page; null: this is the last.'),
});
export type InvoiceList = z.output<typeof invoiceList>;
