/** Injection tokens of the services that the process opens once (app.module.ts). */
export const GLOBAL_DATABASE = 'global database';
export const LOG = 'log';
export const CHANNEL_LIMITS = 'limits of channels';
/** {@link BillingAddress}; provided only where billing is on. */
export const BILLING_ADDRESS = 'address of billing';
/** What pages are given before anybody is signed in. */
export const INSTALLATION_FACTS = 'facts of the installation';
export const STREAM_SETTINGS = 'settings of streams';
export const JOBS_REDIS = 'Redis of the background jobs';
/** Whether webhooks and proxies may be at private addresses. */
export const ALLOW_PRIVATE_WEBHOOKS = 'private webhooks';
