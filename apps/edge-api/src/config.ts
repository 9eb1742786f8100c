import { masterKeysFrom, readConfig, variable, storageFrom, tracesFrom, traceVariable } from '@dormouse/bootstrap';
import { DEFAULT_MAX_JSON_BYTES, DEFAULT_MEDIA_LIMITS, MEDIA_KINDS, REGIONS } from '@dormouse/gateway-contract';
import { LONGEST_LINK_S } from '@dormouse/object-storage';
import { z } from 'zod';
import type { AllowedOrigins } from './access/cross-origin.js';
import { DEFAULT_BAD_TOKEN_LIMIT, DEFAULT_RATE_LIMITS, readRateLimit, type RateLimit } from './access/rate-limits.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

const rate = (standard: RateLimit) =>
  z
    .string()
    .transform((text, context): RateLimit => {
      const limit = readRateLimit(text);
      if (limit !== undefined) return limit;
      context.addIssue({ code: 'custom', message: 'must be <requests>/<seconds> or off' });
      return z.NEVER;
    })
    .default(standard);

const origin = z
  .string()
  .transform((text) => (text.includes('://') ? text : `https://${text}`))
  .refine((text) => URL.canParse(text), 'must be a host or an origin')
  .transform((text) => new URL(text).origin);

const allowedOrigins = z
  .string()
  .transform((text): AllowedOrigins =>
    text === '*' ? '*' : text === 'off' ? [] : text.split(',').map((one) => one.trim()),
  )
  .refine(
    (value) => value === '*' || value.every((one) => URL.canParse(one) && new URL(one).origin === one),
    'must be *, off, or origins such as https://app.example.com, separated by commas',
  );

const key = variable.key();

const schema = z
  .object({
    /** Where to listen. */
    PORT: variable.port().default(3000),
    /** Port of /healthz, /readyz and /metrics; customers need not reach it. */
    PROBE_PORT: variable.port().default(9_092),
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
    /** The region this edge serves. */
    REGION: z.enum(REGIONS),
    /**
     * JSON, region to the region-pinned host of its edges, as a host (https) or an origin. A request that came to the
     * own pinned host is never passed on to another region.
     */
    REGION_HOSTS: variable.json(z.partialRecord(z.enum(REGIONS), origin)).default({}),
    REGIONAL_DATABASE_URL: variable.url('postgresql', 'postgres'),
    /** Connections to PostgreSQL, beside one that listens for changes. */
    DATABASE_CONNECTIONS: variable.integer(1, 200).default(10),
    REDIS_URL: variable.url('redis', 'rediss'),
    /** Seals what is secret in settings of channels: 32 bytes in base64. The same in every app and every region. */
    SETTINGS_MASTER_KEY: key.optional(),
    /** Name of that key, stored beside what it seals. */
    SETTINGS_MASTER_KEY_ID: z.string().min(1).optional(),
    /** Other keys of settings, earlier or coming ones: `{"<id>":"<base64>"}`. Alone: sealed values are read, none is made. */
    SETTINGS_MASTER_KEYS_EARLIER: variable.json(z.record(z.string(), key)).default({}),
    /** Where files lie: an S3-compatible storage; absent for AWS itself. */
    S3_ENDPOINT: variable.url('http', 'https').optional(),
    /** The same storage as customers reach it: links to files are signed for this address. Default: `S3_ENDPOINT`. */
    S3_PUBLIC_ENDPOINT: variable.url('http', 'https').optional(),
    S3_REGION: z.string().optional(),
    S3_BUCKET: z.string().min(1),
    /** Absent: the SDK's own chain (environment, role of the instance). */
    S3_ACCESS_KEY_ID: z.string().optional(),
    S3_SECRET_ACCESS_KEY: z.string().optional(),
    /** Where files lie while they are on their way: on a disk, with room for the largest files times those at once. */
    SPOOL_DIRECTORY: z.string().default('/var/tmp/dormouse-edge-api'),
    /** JSON, kind to its largest file in bytes, where it differs from the standard: `{"document":20971520}`. */
    MEDIA_LIMITS: variable.json(z.partialRecord(z.enum(MEDIA_KINDS), z.int().positive())).default({}),
    /** All files that are on their way at once, in bytes; beyond that 503. Less than the disk has. */
    MAX_SPOOL_BYTES: variable.integer(1_048_576).default(8_589_934_592),
    /** Files of a channel that this edge takes in at once. */
    UPLOADS_AT_ONCE: variable.integer(1, 1_000).default(4),
    /** How long a further file waits, unread, before it is refused with 429. */
    UPLOAD_WAIT_MS: variable.integer(1, 60_000).default(10_000),
    /** How long links to files work, in seconds. */
    MEDIA_LINK_TTL_S: variable.integer(60, LONGEST_LINK_S).default(86_400),
    /** What the files of a channel may take of the object storage together, in bytes; what does not fit is 413. */
    MEDIA_PER_CHANNEL_BYTES: variable.integer(1_048_576).default(21_474_836_480),
    /** How long files are kept, in days. */
    MEDIA_RETENTION_DAYS: variable.integer(1, 3_650).default(30),
    /** Files may be downloaded from this machine itself: development and sandbox only. */
    ALLOW_LOOPBACK_DOWNLOADS: variable.flag().default(false),
    /** Largest JSON body of an endpoint that takes media as base64, in bytes. */
    MAX_MEDIA_JSON_BYTES: variable.integer(1_024).default(DEFAULT_MAX_JSON_BYTES),
    /** Where the documentation is served: `/docs` of the control plane, as browsers reach it. Errors link to its errors page. */
    DOCS_URL: variable.url('https', 'http').default('http://127.0.0.1:3100/docs'),
    /** Origins whose pages may call from a browser: `*`, `off`, or a list separated by commas. */
    CORS_ORIGINS: allowedOrigins.default('*'),
    /** Support address shown in errors. */
    SUPPORT_ADDRESS: z.string().default('support@example.com'),
    /** Webhooks and proxies at loopback and private addresses may be set: development and sandbox only. */
    ALLOW_PRIVATE_WEBHOOKS: variable.flag().default(false),
    /** Largest JSON body of an endpoint that takes no media, in bytes. */
    MAX_JSON_BYTES: variable.integer(1_024).default(1_048_576),
    /** What all JSON bodies under way may hold of memory at once, in bytes, beyond 64 KiB each; then 503. */
    MAX_BODY_MEMORY_BYTES: variable.integer(1_048_576).default(67_108_864),
    /**
     * A request that a channel has not begun with by then is answered with 503: it waits for the channel's earlier
     * requests, its wake, its next connection. Default and most: the 20 s of the command catalogue.
     */
    START_WITHIN_MS: variable.integer(100, 20_000).optional(),
    /** Rate limits of a channel, `<requests>/<seconds>` or `off`; see access/rate-limits.ts. */
    RATE_SENDS: rate(DEFAULT_RATE_LIMITS.sends),
    RATE_MESSAGE_ACTS: rate(DEFAULT_RATE_LIMITS.messageActs),
    RATE_CONTACT_CHECKS: rate(DEFAULT_RATE_LIMITS.contactChecks),
    RATE_GROUP_WRITES: rate(DEFAULT_RATE_LIMITS.groupWrites),
    RATE_HEALTH: rate(DEFAULT_RATE_LIMITS.health),
    RATE_OTHER: rate(DEFAULT_RATE_LIMITS.other),
    /** Of an address (IPv6: its /64): requests without a valid token. */
    RATE_BAD_TOKENS: rate(DEFAULT_BAD_TOKEN_LIMIT),
    /**
     * Load balancers, and edges of other regions, whose `X-Forwarded-For` is believed: addresses or networks, separated
     * by commas. Without it the address of a client is that of its connection.
     */
    TRUSTED_PROXIES: variable.networks().optional(),
  })
  .transform((env) => {
    return env;
  })
  .transform((env) => ({
    listen: { port: env.PORT, host: env.HOST },
    probes: { port: env.PROBE_PORT, host: env.HOST },
    logLevel: env.LOG_LEVEL,
    traces: tracesFrom(env),
    region: env.REGION,
    regionHosts: env.REGION_HOSTS,
    database: { url: env.REGIONAL_DATABASE_URL, maxConnections: env.DATABASE_CONNECTIONS },
    redisUrl: env.REDIS_URL,
    storage: storageFrom(env),
    media: {
      spoolDirectory: env.SPOOL_DIRECTORY,
      maxSpoolBytes: env.MAX_SPOOL_BYTES,
      uploads: { perChannel: env.UPLOADS_AT_ONCE, waitMs: env.UPLOAD_WAIT_MS },
      limits: { ...DEFAULT_MEDIA_LIMITS, ...env.MEDIA_LIMITS },
      linkTtlS: env.MEDIA_LINK_TTL_S,
      retentionMs: env.MEDIA_RETENTION_DAYS * DAY_MS,
      maxBytesPerChannel: env.MEDIA_PER_CHANNEL_BYTES,
      maxJsonBytes: env.MAX_MEDIA_JSON_BYTES,
    },
    downloads: { allowLoopback: env.ALLOW_LOOPBACK_DOWNLOADS },
    allowedOrigins: env.CORS_ORIGINS,
    site: { docsUrl: env.DOCS_URL.replace(/\/+$/, ''), supportAddress: env.SUPPORT_ADDRESS },
    allowPrivateWebhooks: env.ALLOW_PRIVATE_WEBHOOKS,
    maxJsonBytes: env.MAX_JSON_BYTES,
    maxBodyMemoryBytes: env.MAX_BODY_MEMORY_BYTES,
    startWithinMs: env.START_WITHIN_MS,
    rateLimits: {
      sends: env.RATE_SENDS,
      messageActs: env.RATE_MESSAGE_ACTS,
      contactChecks: env.RATE_CONTACT_CHECKS,
      groupWrites: env.RATE_GROUP_WRITES,
      health: env.RATE_HEALTH,
      other: env.RATE_OTHER,
    },
    settingsKeys: masterKeysFrom({
      name: 'SETTINGS_MASTER_KEY',
      earlierName: 'SETTINGS_MASTER_KEYS_EARLIER',
      key: env.SETTINGS_MASTER_KEY,
      id: env.SETTINGS_MASTER_KEY_ID,
      earlier: env.SETTINGS_MASTER_KEYS_EARLIER,
    }),
    badTokenLimit: env.RATE_BAD_TOKENS,
    trustedProxies: env.TRUSTED_PROXIES,
  }));

export type EdgeConfig = z.output<typeof schema>;

/** @throws {ConfigError} naming every variable that is wrong */
export function edgeConfig(environment: Readonly<Record<string, string | undefined>> = process.env): EdgeConfig {
  return readConfig(schema, environment);
}
