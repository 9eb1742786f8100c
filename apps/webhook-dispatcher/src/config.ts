import {
  masterKeysFrom,
  readConfig,
  variable,
  type MasterKeys,
  storageFrom,
  tracesFrom,
  traceVariable,
  type TraceSettings,
} from '@dormouse/bootstrap';
import { REGIONS } from '@dormouse/gateway-contract';
import { LONGEST_LINK_S, type ObjectStorageOptions } from '@dormouse/object-storage';
import { z } from 'zod';
import { DELIVERY_DEFAULTS, type DeliverySettings } from './delivery/create-dispatcher.js';

const key = variable.key();

const environment = z.object({
  /** The region whose events this dispatcher delivers. */
  REGION: z.enum(REGIONS),
  /** That region's database: `postgresql://…`. */
  REGIONAL_DATABASE_URL: variable.url('postgresql', 'postgres'),
  /** That region's Redis, for the wake signals. */
  REDIS_URL: variable.url('redis', 'rediss'),
  /** Seals what is secret in settings of channels: 32 bytes in base64. The same in every app and every region. */
  SETTINGS_MASTER_KEY: key.optional(),
  /** Name of that key, stored beside what it seals. */
  SETTINGS_MASTER_KEY_ID: z.string().min(1).optional(),
  /** Other keys of settings, earlier or coming ones: `{"<id>":"<base64>"}`. Alone: sealed values are read, none is made. */
  SETTINGS_MASTER_KEYS_EARLIER: variable.json(z.record(z.string(), key)).default({}),
  /** Where files lie, as in the edge's switches of these names: links to them are signed anew for late events. */
  S3_ENDPOINT: variable.url('http', 'https').optional(),
  S3_PUBLIC_ENDPOINT: variable.url('http', 'https').optional(),
  S3_REGION: z.string().optional(),
  S3_BUCKET: z.string().min(1),
  S3_ACCESS_KEY_ID: z.string().optional(),
  S3_SECRET_ACCESS_KEY: z.string().optional(),
  /** How long links to files work, in seconds; as the worker's switch. */
  MEDIA_LINK_TTL_S: variable.integer(60, LONGEST_LINK_S).default(86_400),
  /** Port of /healthz, /readyz and /metrics. */
  PROBE_PORT: variable.port().default(9_090),
  /** Address the probe port listens on. */
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
  /** true lets webhooks reach loopback and private networks: development and the sandbox only. */
  ALLOW_PRIVATE_WEBHOOKS: variable.flag().default(false),
  /** Webhooks that this process delivers to at the same time. */
  WEBHOOK_MAX_DELIVERIES: variable.integer(2, 20_000).default(DELIVERY_DEFAULTS.maxDeliveries),
  /** Posts under way to one host at the same time, and so connections to it. */
  WEBHOOK_POSTS_PER_HOST: variable.integer(1, 5_000).default(DELIVERY_DEFAULTS.postsPerHost),
  /** Connections to the database. */
  DATABASE_CONNECTIONS: variable.integer(1, 100).default(10),
});

export interface DispatcherConfig {
  region: string;
  logLevel: string;
  traces: TraceSettings | undefined;
  database: { url: string; maxConnections: number };
  redis: { url: string };
  storage: ObjectStorageOptions;
  settingsKeys: MasterKeys<string | undefined>;
  /** Seconds. */
  linkTtlS: number;
  probes: { port: number; host: string };
  delivery: DeliverySettings;
}

/** Reads the environment. @throws ConfigError naming every variable that is wrong */
export function dispatcherConfig(source: NodeJS.ProcessEnv = process.env): DispatcherConfig {
  const read = readConfig(environment, source);
  return {
    region: read.REGION,
    settingsKeys: masterKeysFrom({
      name: 'SETTINGS_MASTER_KEY',
      earlierName: 'SETTINGS_MASTER_KEYS_EARLIER',
      key: read.SETTINGS_MASTER_KEY,
      id: read.SETTINGS_MASTER_KEY_ID,
      earlier: read.SETTINGS_MASTER_KEYS_EARLIER,
    }),
    logLevel: read.LOG_LEVEL,
    traces: tracesFrom(read),
    database: { url: read.REGIONAL_DATABASE_URL, maxConnections: read.DATABASE_CONNECTIONS },
    redis: { url: read.REDIS_URL },
    storage: storageFrom(read),
    linkTtlS: read.MEDIA_LINK_TTL_S,
    probes: { port: read.PROBE_PORT, host: read.HOST },
    delivery: {
      ...DELIVERY_DEFAULTS,
      maxDeliveries: read.WEBHOOK_MAX_DELIVERIES,
      postsPerHost: read.WEBHOOK_POSTS_PER_HOST,
      allowPrivateWebhooks: read.ALLOW_PRIVATE_WEBHOOKS,
    },
  };
}
