import {
  readConfig,
  requireOwnStores,
  requireTogether,
  tracesFrom,
  traceVariable,
  variable,
} from '@dormouse/bootstrap';
import { REGIONS, type Region } from '@dormouse/gateway-contract';
import { z } from 'zod';

/** The JSON is the same as of the control plane; only the address of the database is used here. */
const region = z.object({ databaseUrl: variable.url('postgresql', 'postgres') });
export type RegionAddress = z.output<typeof region>;

/** Shorter secrets can be guessed. */
const MIN_SECRET_CHARACTERS = 32;
const THREE_DAYS_S = 259_200;

const environment = z.object({
  /** Where to listen: webhooks of Stripe (public), and requests of the control plane. */
  PORT: variable.port().default(3_200),
  /** Port of /healthz, /readyz and /metrics. */
  PROBE_PORT: variable.port().default(9_094),
  HOST: z.string().default('0.0.0.0'),
  LOG_LEVEL: variable.logLevel().default('info'),
  /** Where traces are sent, by OTLP over HTTP: `http://collector:4318`. Absent: there are none, and they cost nothing. */
  OTEL_EXPORTER_OTLP_ENDPOINT: traceVariable.endpoint(),
  /** Headers of those calls, `name=value` separated by commas, percent-encoded: what the receiver wants to know senders by. */
  OTEL_EXPORTER_OTLP_HEADERS: traceVariable.headers(),
  /** `http/protobuf` or `http/json`. */
  OTEL_EXPORTER_OTLP_PROTOCOL: traceVariable.protocol(),
  /** Which traces are recorded. With `parentbased_` a client that names a trace decides about its own requests. */
  OTEL_TRACES_SAMPLER: traceVariable.sampler(),
  /** For samplers by ratio: the share that is recorded, 0 to 1. */
  OTEL_TRACES_SAMPLER_ARG: traceVariable.samplerArg(),
  /** How long spans are gathered before they are sent, in milliseconds. */
  OTEL_BSP_SCHEDULE_DELAY: traceVariable.exportEveryMs(),
  /** What billing knows of accounts, their numbers and their subscriptions. */
  GLOBAL_DATABASE_URL: variable.url('postgresql', 'postgres'),
  /** JSON: region to `{"databaseUrl"}`, as of the control plane: where numbers are read and standings are written. */
  REGIONS: variable
    .json(z.partialRecord(z.enum(REGIONS), region))
    .refine((regions) => Object.keys(regions).length > 0, 'must name a region'),
  /** The global Redis: background jobs. */
  REDIS_URL: variable.url('redis', 'rediss'),
  /** With it the control plane makes requests (`Authorization: Bearer`): 32 characters or more. */
  BILLING_SECRET: z.string().min(MIN_SECRET_CHARACTERS),
  /** Secret key of Stripe. Absent: billing is off, and every number is good. */
  STRIPE_SECRET_KEY: z.string().min(1).optional(),
  /** What Stripe signs webhooks with, the current secret first, with commas: while it is rotated both are valid. */
  STRIPE_WEBHOOK_SECRET: z
    .string()
    .transform((text) => text.split(',').map((secret) => secret.trim()))
    .refine((secrets) => secrets.every((secret) => secret !== ''), 'must be secrets, separated by commas')
    .optional(),
  /** Where Stripe is; absent: Stripe itself. For a simulated Stripe. */
  STRIPE_API_URL: variable.url('https', 'http').optional(),
  /** Timeout of one request to Stripe. */
  STRIPE_TIMEOUT_MS: variable.integer(100, 80_000).default(10_000),
  /** Requests to Stripe in a second for what nobody waits for, of each billing process. */
  STRIPE_REQUESTS_PER_SECOND: variable.integer(1, 100).default(15),
  /** Interval between two comparisons of all accounts with Stripe, in seconds. */
  SWEEP_EVERY_S: variable.integer(1, 604_800).default(3_600),
  /** Price of a further number for a month, in the smallest unit of the currency. `npm run billing:setup` brings a change to Stripe. */
  NUMBER_PRICE: variable.integer(1, 99_999_999).default(400),
  /** Currency of the price: ISO 4217, small letters. */
  CURRENCY: z
    .string()
    .regex(/^[a-z]{3}$/, 'must be three small letters, such as usd')
    .default('usd'),
  /** Where people reach the control plane: Stripe's pages lead back there. */
  PUBLIC_URL: variable.url('https', 'http').default('http://127.0.0.1:3100'),
  /** Numbers of each account that cost nothing. */
  FREE_NUMBERS: variable.integer(0, 1_000_000).default(1),
  /** For how long an unpaid invoice stops nothing, from its finalisation, in seconds. */
  GRACE_S: variable.integer(0, 31_536_000).default(THREE_DAYS_S),
  /** Interval between two queries for numbers that were linked or deleted in a region, and for standings to be written there. */
  REGION_POLL_MS: variable.integer(100, 60_000).default(1_000),
  /** Connections to the global database, and to each region's. */
  DATABASE_CONNECTIONS: variable.integer(1, 200).default(5),
  /** Addresses or networks of proxies whose X-Forwarded-For is trusted, with commas. Empty: the connection's address counts. */
  TRUSTED_PROXIES: variable.networks().default([]),
  /** Where the documentation is served: errors link to its errors page. Default: `/docs` of `PUBLIC_URL`, where the control plane serves it. */
  DOCS_URL: variable.url('https', 'http').optional(),
  /** Address of support, named in every error. */
  SUPPORT_ADDRESS: z.string().default('support@example.com'),
});

export type BillingConfig = ReturnType<typeof billingConfig>;

/** Reads the environment. @throws {ConfigError} that names every variable that is wrong */
export function billingConfig(source: Readonly<Record<string, string | undefined>> = process.env) {
  const env = readConfig(environment, source);
  requireTogether(env, ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET']);
  const databases = Object.entries(env.REGIONS).map(([name, { databaseUrl }]) => [name, databaseUrl] as const);
  requireOwnStores('REGIONS', 'database', databases);
  return {
    listen: { port: env.PORT, host: env.HOST },
    probes: { port: env.PROBE_PORT, host: env.HOST },
    logLevel: env.LOG_LEVEL,
    traces: tracesFrom(env),
    globalDatabase: { url: env.GLOBAL_DATABASE_URL, maxConnections: env.DATABASE_CONNECTIONS },
    regions: new Map(Object.entries(env.REGIONS) as [Region, RegionAddress][]),
    regionConnections: env.DATABASE_CONNECTIONS,
    redisUrl: env.REDIS_URL,
    secret: env.BILLING_SECRET,
    stripe: stripeOf(env),
    rules: { isOn: env.STRIPE_SECRET_KEY !== undefined, freeNumbers: env.FREE_NUMBERS, graceMs: env.GRACE_S * 1_000 },
    regionPollMs: env.REGION_POLL_MS,
    trustedProxies: env.TRUSTED_PROXIES,
    site: {
      docsUrl: (env.DOCS_URL ?? new URL('/docs', env.PUBLIC_URL).href).replace(/\/+$/, ''),
      supportAddress: env.SUPPORT_ADDRESS,
    },
  };
}

/** Undefined: billing is off. */
function stripeOf(env: z.output<typeof environment>) {
  if (env.STRIPE_SECRET_KEY === undefined) return undefined;
  return {
    secretKey: env.STRIPE_SECRET_KEY,
    webhookSecrets: env.STRIPE_WEBHOOK_SECRET ?? [],
    timeoutMs: env.STRIPE_TIMEOUT_MS,
    requestsPerSecond: env.STRIPE_REQUESTS_PER_SECOND,
    sweepEveryMs: env.SWEEP_EVERY_S * 1_000,
    price: { amount: env.NUMBER_PRICE, currency: env.CURRENCY },
    pages: pagesAt(env.PUBLIC_URL.replace(/\/+$/, '')),
    ...(env.STRIPE_API_URL !== undefined && { apiUrl: env.STRIPE_API_URL }),
  };
}

/** Where people come back to from Stripe's pages. */
function pagesAt(publicUrl: string) {
  const page = `${publicUrl}/billing`;
  return { successUrl: `${page}?checkout=done`, cancelUrl: `${page}?checkout=cancelled`, returnUrl: page };
}

const setUpEnvironment = environment
  .pick({ STRIPE_API_URL: true, STRIPE_TIMEOUT_MS: true, NUMBER_PRICE: true, CURRENCY: true })
  .extend({
    STRIPE_SECRET_KEY: z.string().min(1),
    /** Where Stripe posts its events to: the public address of billing and /stripe/webhook. Absent: no webhook endpoint is made. */
    STRIPE_WEBHOOK_URL: variable.url('https', 'http').optional(),
  });

/** Switches of the command that sets up Stripe. @throws {ConfigError} that names every variable that is wrong */
export function setUpConfig(source: Readonly<Record<string, string | undefined>> = process.env) {
  const env = readConfig(setUpEnvironment, source);
  return {
    stripe: {
      secretKey: env.STRIPE_SECRET_KEY,
      timeoutMs: env.STRIPE_TIMEOUT_MS,
      ...(env.STRIPE_API_URL !== undefined && { apiUrl: env.STRIPE_API_URL }),
    },
    terms: {
      unitAmount: env.NUMBER_PRICE,
      currency: env.CURRENCY,
      ...(env.STRIPE_WEBHOOK_URL !== undefined && { webhookUrl: env.STRIPE_WEBHOOK_URL }),
    },
  };
}
