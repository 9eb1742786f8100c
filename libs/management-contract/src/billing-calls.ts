import { z } from 'zod';
import {
  billedNumber,
  billingPage,
  billingPreview,
  billingRecord,
  changeBillingBody,
  checkoutBody,
  invoiceList,
  previewBody,
} from './billing.js';
import { freeNumbers, freeNumbersBody } from './free-numbers.js';

/** Who makes a request, for the audit log. */
const requester = z.object({
  actor: z.object({
    kind: z.enum(['user', 'key', 'operator', 'system']),
    id: z.string(),
    name: z.string().optional(),
  }),
  address: z.string().optional(),
  requestId: z.string().optional(),
});

const accountId = z.string().min(1).max(100);
const read = z.object({ accountId });
const changing = z.object({ accountId, requester });

/** What the control plane calls of billing, each a POST with a JSON body under {@link BILLING_CALL_PREFIX}; no customer reaches it. */
export const BILLING_CALLS = {
  read: { body: read, answer: billingRecord },
  numbers: {
    body: read.extend({ count: z.int().min(1).max(500), offset: z.int().min(0) }),
    answer: z.object({ numbers: z.array(billedNumber), total: z.int() }),
  },
  change: { body: changing.extend({ change: changeBillingBody }), answer: billingRecord },
  preview: { body: read.extend({ preview: previewBody }), answer: billingPreview },
  checkout: {
    body: changing.extend({
      checkout: checkoutBody,
      /** As Stripe's pages and invoices show the account. */
      accountName: z.string(),
      email: z.string().nullish(),
    }),
    answer: billingPage,
  },
  portal: { body: changing, answer: billingPage },
  invoices: {
    body: read.extend({ count: z.int().min(1).max(100), after: z.string().optional() }),
    answer: invoiceList,
  },
  /** Ends what an account pays, at once, and erases its name and address at Stripe. Repeating it has the same result. */
  end: { body: changing, answer: z.object({ ended: z.literal(true) }) },
  /** Free numbers that operators gave an account. */
  'free-numbers': { body: read, answer: freeNumbers },
  'give-free-numbers': { body: changing.extend({ given: freeNumbersBody }), answer: freeNumbers },
  'end-free-numbers': { body: changing, answer: freeNumbers },
} as const;

export type BillingCallName = keyof typeof BILLING_CALLS;
export type BillingCallBody<Name extends BillingCallName> = z.output<(typeof BILLING_CALLS)[Name]['body']>;
export type BillingCallAnswer<Name extends BillingCallName> = z.output<(typeof BILLING_CALLS)[Name]['answer']>;

export const BILLING_CALL_PREFIX = '/internal/billing';
