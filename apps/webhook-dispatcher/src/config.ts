import { readConfig, variable } from '@dormouse/bootstrap';
import { REGIONS } from '@dormouse/gateway-contract';
import { z } from 'zod';
import { DELIVERY_DEFAULTS, type DeliverySettings } from './create-dispatcher.js';

const environment = z.object({
  /** The region whose events this dispatcher tells. */
  REGION: z.enum(REGIONS),
  /** That region's database: `postgresql://…`. */
  REGIONAL_DATABASE_URL: variable.url('postgresql', 'postgres'),
  /** That region's Redis, for the wake signals. */
  REDIS_URL: variable.url('redis', 'rediss'),
  /** Port of /healthz, /readyz and /metrics. */
  PROBE_PORT: variable.port().default(9_090),
  /** Address the probe port listens on. */
  HOST: z.string().default('0.0.0.0'),
  LOG_LEVEL: variable.logLevel().default('info'),
  /** true lets webhooks reach loopback and private networks: development and the sandbox only. */
  ALLOW_PRIVATE_WEBHOOKS: variable.flag().default(false),
  /** Webhooks told at the same time by this process. */
  WEBHOOK_MAX_DELIVERIES: variable.integer(2, 20_000).default(DELIVERY_DEFAULTS.maxDeliveries),
  /** Posts under way to one host at the same time, and so connections to it. */
  WEBHOOK_POSTS_PER_HOST: variable.integer(1, 5_000).default(DELIVERY_DEFAULTS.postsPerHost),
  /** Connections to the database. */
  DATABASE_CONNECTIONS: variable.integer(1, 100).default(10),
});

export interface DispatcherConfig {
  region: string;
  logLevel: string;
  database: { url: string; maxConnections: number };
  redis: { url: string };
  probes: { port: number; host: string };
  delivery: DeliverySettings;
}

/** Reads the environment. @throws ConfigError naming every variable that is wrong */
export function dispatcherConfig(source: NodeJS.ProcessEnv = process.env): DispatcherConfig {
  const read = readConfig(environment, source);
  return {
    region: read.REGION,
    logLevel: read.LOG_LEVEL,
    database: { url: read.REGIONAL_DATABASE_URL, maxConnections: read.DATABASE_CONNECTIONS },
    redis: { url: read.REDIS_URL },
    probes: { port: read.PROBE_PORT, host: read.HOST },
    delivery: {
      ...DELIVERY_DEFAULTS,
      maxDeliveries: read.WEBHOOK_MAX_DELIVERIES,
      postsPerHost: read.WEBHOOK_POSTS_PER_HOST,
      allowPrivateWebhooks: read.ALLOW_PRIVATE_WEBHOOKS,
    },
  };
}
