/** Injection tokens of the services that the process opens once (app.module.ts). */
export const GLOBAL_DATABASE = 'global database';
export const LOG = 'log';
/** {@link BillingRules} by which standings are computed. */
export const RULES = 'billing rules';
/** Clock in epoch milliseconds: `() => number`. */
export const CLOCK = 'clock';
/** Registry of metrics. */
export const METRICS = 'metrics';
/** Interval between two looks at a region, in milliseconds. */
export const REGION_POLL_MS = 'interval of looks at a region';
/** With it the control plane makes requests. */
export const BILLING_SECRET = 'billing secret';
/** {@link StripeSettings}; provided only where billing is on. */
export const STRIPE_SETTINGS = 'settings of Stripe';
