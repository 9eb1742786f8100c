import {
  masterKeysFrom,
  readConfig,
  requireOwnStores,
  requireTogether,
  storagePlace,
  tracesFrom,
  traceVariable,
  variable,
} from '@dormouse/bootstrap';
import { DOCS_PREFIX } from '@dormouse/docs';
import { REGIONS, type Region } from '@dormouse/gateway-contract';
import { LONGEST_LINK_S } from '@dormouse/object-storage';
import { z } from 'zod';
import type { BillingAddress } from './billing/billing-client.js';
import { DEFAULT_LIMITS } from './management-limits.js';
import { DEFAULT_ATTEMPTS } from './users/attempt-limits.js';
import { originOf, signInFrom } from './users/sign-in-settings.js';

/** Where a region stores its files, to sign links to them: a read-only key is enough. Fields as the edge's `S3_*` settings. */
const storage = z
  .object({
    bucket: z.string().min(1),
    endpoint: variable.url('http', 'https').optional(),
    publicEndpoint: variable.url('http', 'https').optional(),
    region: z.string().optional(),
    accessKeyId: z.string().optional(),
    secretAccessKey: z.string().optional(),
    /** How long links work, in seconds; the same as the worker's setting. */
    linkTtlS: z.int().min(60).max(LONGEST_LINK_S).default(86_400),
  })
  .refine(
    ({ accessKeyId, secretAccessKey }) => (accessKeyId === undefined) === (secretAccessKey === undefined),
    'has one of accessKeyId and secretAccessKey without the other; set both or none',
  )
  .transform(({ linkTtlS, ...place }) => ({ linkTtlS, place: storagePlace(place) }));

const region = z.object({
  databaseUrl: variable.url('postgresql', 'postgres'),
  redisUrl: variable.url('redis', 'rediss'),
  /** Where browsers reach the region's gateway; shown in the dashboard, which sends messages there. */
  gatewayUrl: variable.url('http', 'https').optional(),
  /** Absent: events have the links they were written with, which may have expired. */
  storage: storage.optional(),
});
export type RegionAddress = z.output<typeof region>;

/** 32 bytes in hex. */
const keyHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/i, 'must be a SHA-256 in hex')
  .transform((hex) => Buffer.from(hex, 'hex'));

const key = variable.key();

/** While there is no SMTP server, nothing is sent from it. */
const NO_ADDRESS = 'no-reply@localhost';

const schema = z
  .object({
    /** Where to listen. */
    PORT: variable.port().default(3_100),
    /** Port of /healthz, /readyz and /metrics; customers need not reach it. */
    PROBE_PORT: variable.port().default(9_093),
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
    /** Accounts, their keys, and in which region each channel lives. */
    GLOBAL_DATABASE_URL: variable.url('postgresql', 'postgres'),
    /** JSON: region to `{"databaseUrl", "redisUrl", "gatewayUrl", "storage"}`. A channel created without a region goes to the first. */
    REGIONS: variable.json(z.partialRecord(z.enum(REGIONS), region)),
    /**
     * JSON: name of an operator to the SHA-256 of their key in hex, as `create-operator-key.js` prints it:
     * `{"ada":"9f86d0…"}`. Empty: there are no operators, and /fleet is closed.
     */
    OPERATORS: variable.json(z.record(z.string().min(1), keyHash)).default({}),
    /** Encrypts the secrets in settings of channels: 32 bytes in base64. The same key as in the apps of every region. */
    SETTINGS_MASTER_KEY: key.optional(),
    /** Name of that key, stored beside what it seals. */
    SETTINGS_MASTER_KEY_ID: z.string().min(1).optional(),
    /** Other keys of settings, earlier or future ones: `{"<id>":"<base64>"}`. Without a current key, sealed values are read and new ones are stored in the clear. */
    SETTINGS_MASTER_KEYS_EARLIER: variable.json(z.record(z.string(), key)).default({}),
    /** Requests of one account, or one operator, in a minute; 0: no limit. */
    REQUESTS_PER_MINUTE: variable.integer(0, 1_000_000).default(DEFAULT_LIMITS.perAccount),
    /** Requests with unknown keys from one address in a minute; 0: no limit. */
    BAD_KEYS_PER_MINUTE: variable.integer(0, 1_000_000).default(DEFAULT_LIMITS.badKeysPerAddress),
    /** Maximum number of channels of one account. */
    CHANNELS_PER_ACCOUNT: variable.integer(1, 1_000_000).default(DEFAULT_LIMITS.channelsPerAccount),
    /** Channels that an account may create in half an hour, where an operator has not set another number; 0: no limit. */
    CHANNELS_PER_HALF_HOUR: variable.integer(0, 1_000_000).default(DEFAULT_LIMITS.channelsPerHalfHour),
    /** Channels that an account may have without ever having linked them, where an operator has not set another number; 0: no limit. */
    NEVER_LINKED_CHANNELS: variable.integer(0, 1_000_000).default(DEFAULT_LIMITS.neverLinkedChannels),
    /** Webhooks and proxies may be set to private addresses: for development. The same as at the edges. */
    ALLOW_PRIVATE_WEBHOOKS: variable.flag().default(false),
    /** Redis of the jobs that the control plane does by itself; regions have their own. Without it mail waits. */
    REDIS_URL: variable.url('redis', 'rediss'),
    /** Addresses or networks of proxies whose X-Forwarded-For is trusted, with commas. Empty: the connection's address counts. */
    TRUSTED_PROXIES: variable.networks().default([]),
    /** Connections to the global database, and to each region's. */
    DATABASE_CONNECTIONS: variable.integer(1, 200).default(10),
    /** Where people reach this API: scheme, host and port, as in their browser. Links in mails lead there; sessions are accepted from pages of this origin alone. */
    PUBLIC_URL: variable.url('https', 'http').optional(),
    /** Signs sessions and links in mails, and encrypts second factors: at least 32 characters, the same in every control plane. Absent: nobody can sign in. */
    AUTH_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
    /** Server that sends mail: `smtp://user:password@host:port`, `smtps://…`. Absent: no mail is sent. */
    SMTP_URL: variable.url('smtp', 'smtps').optional(),
    /** Address that mail comes from; belongs to SMTP_URL. */
    MAIL_FROM: z.email().optional(),
    /** Name beside that address, also the one that mails are signed with. */
    MAIL_FROM_NAME: z
      .string()
      .regex(/^[^\p{Cc}]+$/u, 'must be one line')
      .default('Dormouse'),
    /** `open`: anybody may sign up; `closed`: people are invited. Default: `open` if there is `SMTP_URL`. */
    SIGN_UP: z.enum(['open', 'closed'], 'must be open or closed').optional(),
    /** Sign-ups from one network in an hour; 0: no limit. */
    SIGN_UPS_PER_NETWORK: variable.integer(0, 1_000_000).default(DEFAULT_ATTEMPTS.signUps.perNetwork),
    /** Failed sign-ins from one network in 15 minutes; 0: no limit. */
    FAILED_SIGN_INS_PER_NETWORK: variable.integer(0, 1_000_000).default(DEFAULT_ATTEMPTS.failedSignIns.perNetwork),
    /** Mails that one network requests in an hour (verification, reset, invitations); 0: no limit. */
    MAILS_PER_NETWORK: variable.integer(0, 1_000_000).default(DEFAULT_ATTEMPTS.mails.perNetwork),
    /** Issuer of an OpenID Connect identity provider that people may sign in with; its redirect address is `PUBLIC_URL` and /api/v1/auth/callback/oidc. */
    OIDC_ISSUER: variable.url('https', 'http').optional(),
    /** Name of this installation at the identity provider. */
    OIDC_CLIENT_ID: z.string().optional(),
    /** Its secret there. */
    OIDC_CLIENT_SECRET: z.string().optional(),
    /** What people know the identity provider by. */
    OIDC_NAME: z.string().default('single sign-on'),
    /** Where billing listens, for this process alone. Absent: billing is off, and every number is served. */
    BILLING_URL: variable.url('http', 'https').optional(),
    /** With it requests to billing are made: the same as there. */
    BILLING_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
    /** Timeout of a request to billing, which may wait for Stripe. */
    BILLING_TIMEOUT_MS: variable.integer(100, 120_000).default(30_000),
    /** Where the documentation is served: errors link to its errors page. Default: `/docs` of `PUBLIC_URL`, as this app serves it. */
    DOCS_URL: variable.url('https', 'http').optional(),
    /** Page of the phones of a simulated network; the dashboard links to it where a code waits to be scanned. */
    PHONES_URL: variable.url('https', 'http').optional(),
    /** Address of support, named in every error. */
    SUPPORT_ADDRESS: z.string().default('support@example.com'),
  })
  .transform((env) => {
    requireTogether(env, ['SMTP_URL', 'MAIL_FROM']);
    const regions = Object.entries(env.REGIONS);
    requireOwnStores(
      'REGIONS',
      'database',
      regions.map(([name, { databaseUrl }]) => [name, databaseUrl]),
    );
    requireOwnStores(
      'REGIONS',
      'Redis',
      regions.map(([name, { redisUrl }]) => [name, redisUrl]),
    );
    return env;
  })
  .transform((env) => ({
    listen: { port: env.PORT, host: env.HOST },
    probes: { port: env.PROBE_PORT, host: env.HOST },
    logLevel: env.LOG_LEVEL,
    traces: tracesFrom(env),
    globalDatabase: { url: env.GLOBAL_DATABASE_URL, maxConnections: env.DATABASE_CONNECTIONS },
    redisUrl: env.REDIS_URL,
    mail: {
      smtpUrl: env.SMTP_URL,
      from: { address: env.MAIL_FROM ?? NO_ADDRESS, name: env.MAIL_FROM_NAME },
    },
    regions: new Map(Object.entries(env.REGIONS) as [Region, RegionAddress][]),
    operators: new Map(Object.entries(env.OPERATORS)),
    settingsKeys: masterKeysFrom({
      name: 'SETTINGS_MASTER_KEY',
      earlierName: 'SETTINGS_MASTER_KEYS_EARLIER',
      key: env.SETTINGS_MASTER_KEY,
      id: env.SETTINGS_MASTER_KEY_ID,
      earlier: env.SETTINGS_MASTER_KEYS_EARLIER,
    }),
    limits: {
      perAccount: env.REQUESTS_PER_MINUTE,
      badKeysPerAddress: env.BAD_KEYS_PER_MINUTE,
      channelsPerAccount: env.CHANNELS_PER_ACCOUNT,
      channelsPerHalfHour: env.CHANNELS_PER_HALF_HOUR,
      neverLinkedChannels: env.NEVER_LINKED_CHANNELS,
    },
    allowPrivateWebhooks: env.ALLOW_PRIVATE_WEBHOOKS,
    signIn: signInFrom(env),
    billing: billingFrom(env),
    phonesUrl: env.PHONES_URL,
    trustedProxies: env.TRUSTED_PROXIES,
    site: { docsUrl: docsUrlFrom(env), supportAddress: env.SUPPORT_ADDRESS },
  }))
  .refine(({ regions }) => regions.size > 0, { path: ['REGIONS'], message: 'must name a region' });

export type ControlPlaneConfig = z.output<typeof schema>;

/** Address of the documentation, without a trailing slash. A path alone where nothing is known about the address of this app. */
function docsUrlFrom({
  DOCS_URL,
  PUBLIC_URL,
}: {
  DOCS_URL?: string | undefined;
  PUBLIC_URL?: string | undefined;
}): string {
  if (DOCS_URL !== undefined) return DOCS_URL.replace(/\/+$/, '');
  return PUBLIC_URL === undefined ? DOCS_PREFIX : `${originOf(PUBLIC_URL)}${DOCS_PREFIX}`;
}

/** Undefined: billing is off. */
function billingFrom(env: {
  BILLING_URL?: string | undefined;
  BILLING_SECRET?: string | undefined;
  BILLING_TIMEOUT_MS: number;
}): BillingAddress | undefined {
  requireTogether(env, ['BILLING_URL', 'BILLING_SECRET']);
  if (env.BILLING_URL === undefined || env.BILLING_SECRET === undefined) return undefined;
  const url = env.BILLING_URL.replace(/\/+$/, '');
  return { url, secret: env.BILLING_SECRET, timeoutMs: env.BILLING_TIMEOUT_MS };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws {ConfigError} that names every variable that is wrong */
export function controlPlaneConfig(environment: Environment = process.env): ControlPlaneConfig {
  return readConfig(schema, environment);
}

const createAccountSchema = z
  .object({ GLOBAL_DATABASE_URL: variable.url('postgresql', 'postgres') })
  .transform((env) => ({ globalDatabaseUrl: env.GLOBAL_DATABASE_URL }));

/** Settings of the command that creates accounts. @throws {ConfigError} */
export function createAccountConfig(environment: Environment = process.env): { globalDatabaseUrl: string } {
  return readConfig(createAccountSchema, environment);
}

const createUserSchema = z
  .object({ GLOBAL_DATABASE_URL: variable.url('postgresql', 'postgres'), USER_PASSWORD: z.string() })
  .transform((env) => ({ globalDatabaseUrl: env.GLOBAL_DATABASE_URL, password: env.USER_PASSWORD }));

/** Settings of the command that makes users. @throws {ConfigError} */
export function createUserConfig(environment: Environment = process.env): z.output<typeof createUserSchema> {
  return readConfig(createUserSchema, environment);
}

const createFirstOwnerSchema = z
  .object({ GLOBAL_DATABASE_URL: variable.url('postgresql', 'postgres'), PUBLIC_URL: variable.url('https', 'http') })
  .transform((env) => ({ globalDatabaseUrl: env.GLOBAL_DATABASE_URL, publicUrl: originOf(env.PUBLIC_URL) }));

/** Settings of the command that prints the link of the first owner. @throws {ConfigError} */
export function createFirstOwnerConfig(
  environment: Environment = process.env,
): z.output<typeof createFirstOwnerSchema> {
  return readConfig(createFirstOwnerSchema, environment);
}
