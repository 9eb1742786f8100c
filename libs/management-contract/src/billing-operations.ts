import { BILLING_ROLES } from './access.js';
import {
  billedNumberList,
  billedNumbersQuery,
  billingPage,
  billingPreview,
  billingRecord,
  changeBillingBody,
  checkoutBody,
  invoiceList,
  invoicesQuery,
  previewBody,
} from './billing.js';
import type { Operation } from './operation.js';

const READ = { for: 'members', roles: BILLING_ROLES, scope: 'billing:read' } as const;
const WRITE = { for: 'members', roles: BILLING_ROLES, scope: 'billing:write' } as const;

/** What an account pays. 503 while the payment provider or billing is away; 409 when billing is off. */
export const BILLING_OPERATIONS = {
  getBilling: {
    method: 'get',
    path: '/billing',
    summary: 'Get the plan, the numbers that count, the limit, the next invoice and what is open',
    access: READ,
    status: 200,
    answer: billingRecord,
    failures: [503],
  },
  listBilledNumbers: {
    method: 'get',
    path: '/billing/numbers',
    summary: 'List the numbers that count, in the order of first links: free, covered by what was bought, or beyond it',
    access: READ,
    query: billedNumbersQuery,
    status: 200,
    answer: billedNumberList,
    failures: [503],
  },
  changeBilling: {
    method: 'patch',
    path: '/billing',
    summary: 'Set up to how many numbers are bought without asking; raising it needs a preview, and buys what waits',
    access: WRITE,
    body: changeBillingBody,
    status: 200,
    answer: billingRecord,
    failures: [409, 503],
  },
  previewBilling: {
    method: 'post',
    path: '/billing/preview',
    summary: 'Compute the exact amount that so many numbers would cost now',
    access: WRITE,
    body: previewBody,
    status: 200,
    answer: billingPreview,
    failures: [409, 503],
  },
  checkOut: {
    method: 'post',
    path: '/billing/checkout',
    summary: 'Get the page of Stripe for the first purchase; repeated, it is the same page',
    access: WRITE,
    body: checkoutBody,
    status: 200,
    answer: billingPage,
    failures: [409, 503],
  },
  openPortal: {
    method: 'post',
    path: '/billing/portal',
    summary: 'Get the page of Stripe for card, tax id, invoices and cancellation',
    access: WRITE,
    status: 200,
    answer: billingPage,
    failures: [409, 503],
  },
  listInvoices: {
    method: 'get',
    path: '/billing/invoices',
    summary: 'List the invoices of the account, newest first',
    access: READ,
    query: invoicesQuery,
    status: 200,
    answer: invoiceList,
    failures: [404, 503],
  },
} as const satisfies Record<string, Operation>;
