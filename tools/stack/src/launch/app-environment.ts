import { createHash } from 'node:crypto';
import { isStoreApp, ROOT_FOLDER, type AppName, type StoreApp } from '../app-names.js';
import { inheritedEnvironment } from '../config.js';
import type { InstallationFacts } from './installation.js';
import type { RegionName, RegionStores } from '../stores/region-stores.js';

/** The simulated network's answer to "where are you", as its start line gives it. */
export interface NetworkAddress {
  /** Where people use its phones. */
  pageUrl: string;
  socketUrl: string;
  /** base64 of the root public key that its certificates are signed by. */
  rootKey: string;
  /** Where it keeps files. */
  mediaOrigin: string;
  /** PEM of the certificate that it shows there. */
  certificateFile: string;
}

/** A region as its own apps and those of all regions reach it. */
export interface RegionPlace extends RegionName {
  stores: RegionStores;
  edgeUrl: string;
}

export interface AppEnvironmentFacts {
  /** As each app connects to it. */
  globalDatabaseUrls: Record<StoreApp, string>;
  /** The first has channels that are made without a region; control plane and billing use its Redis. */
  regions: readonly [RegionPlace, ...RegionPlace[]];
  installation: InstallationFacts;
  /** Undefined: as many as there are, or the worker's own number at the first start. */
  shardCount: number | undefined;
  /** Undefined: the real network, whose address and key the worker knows. */
  network: NetworkAddress | undefined;
  dataDir: string;
  /** Where browsers reach the control plane. */
  publicUrl: string;
  /** Absent: no mail is sent. */
  smtp?: { url: string; from: string } | undefined;
  /** Absent: there is no billing. */
  billing?: BillingPlace | undefined;
}

/** Where billing is, and which Stripe it uses. */
export interface BillingPlace {
  url: string;
  stripe: {
    secretKey: string;
    webhookSecret: string;
    /** Of a simulated one. */
    url?: string;
  };
}

/** What else an app's environment depends on. */
export interface AppPlace {
  /** Where it answers probes and metrics, if that is not its one port for everything. */
  probePort?: number | undefined;
  /** Of the mailbox. */
  smtpPort?: number | undefined;
  /** Of an app that each region has for itself; default: the first. */
  region?: RegionPlace | undefined;
}

export const COMPILE_CACHE = `${ROOT_FOLDER}.dormouse/compile-cache`;

type Switches = Record<string, string>;

/**
 * The switches of each app (each app's `config.ts` is their reference). Everything runs as in production, except that
 * webhooks may go to private addresses and files may come from this machine: on one machine everything is on it.
 */
export function appEnvironment(
  app: AppName,
  facts: AppEnvironmentFacts,
  port: number,
  { probePort = port, smtpPort = 0, region = facts.regions[0] }: AppPlace = {},
): NodeJS.ProcessEnv {
  const { installation, shardCount, network } = facts;
  // What stands in for others has no account, and none of these switches.
  const stores = isStoreApp(app) ? region.stores.accounts[app] : region.stores;
  const settings: Switches = {
    SETTINGS_MASTER_KEY: installation.settingsKey,
    SETTINGS_MASTER_KEY_ID: installation.settingsKeyId,
  };
  const regional: Switches = {
    ...settings,
    REGION: region.code,
    REGIONAL_DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
  };
  const { endpoint, bucket, accessKeyId, secretAccessKey } = stores.objects;
  const objects: Switches = {
    S3_ENDPOINT: endpoint,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
  };
  const files: Switches = {
    ...objects,
    SPOOL_DIRECTORY: `${facts.dataDir}/spool/${app}${region.suffix}`,
    ALLOW_LOOPBACK_DOWNLOADS: 'true',
  };
  const master: Switches = { MASTER_KEY: installation.masterKey, MASTER_KEY_ID: installation.masterKeyId };
  const simulated: Switches = network
    ? {
        NETWORK_SOCKET_URL: network.socketUrl,
        NETWORK_ROOT_KEY: network.rootKey,
        NETWORK_MEDIA_ORIGIN: network.mediaOrigin,
        NODE_EXTRA_CA_CERTS: network.certificateFile,
      }
    : {};
  const global = globalSwitches(facts, 'control-plane');
  const own: Record<AppName, Switches> = {
    'network-simulator': { DATA_DIR: `${facts.dataDir}/network` },
    ...moneySwitches(facts),
    'control-plane': {
      ...settings,
      ...global,
      ...peopleSwitches(facts),
      ...(network ? { PHONES_URL: network.pageUrl } : {}),
      // One account has everything here, and tools send requests as fast as they can.
      REQUESTS_PER_MINUTE: '0',
      CHANNELS_PER_ACCOUNT: '1000000',
      CHANNELS_PER_HALF_HOUR: '0',
      NEVER_LINKED_CHANNELS: '0',
      ALLOW_PRIVATE_WEBHOOKS: 'true',
      OPERATORS: JSON.stringify({ local: createHash('sha256').update(installation.operatorKey).digest('hex') }),
    },
    'session-worker': {
      ...regional,
      ...master,
      ...simulated,
      ...files,
      PACK_PRE_KEYS: 'true',
      ...(shardCount === undefined ? {} : { SHARD_COUNT: String(shardCount) }),
    },
    'webhook-dispatcher': { ...regional, ...objects, ALLOW_PRIVATE_WEBHOOKS: 'true' },
    'edge-api': { ...regional, ...files, ...edgeSwitches(facts) },
  };
  return {
    ...inheritedEnvironment(),
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    // Node 22 and later keep what they compiled, per version: an app starts in two thirds of the time.
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    HOST: '127.0.0.1',
    ...listening(app, port, { probePort, smtpPort }),
    ...own[app],
  };
}

/** Where an app listens. */
function listening(app: AppName, port: number, { probePort, smtpPort }: Required<Omit<AppPlace, 'region'>>): Switches {
  const own = { PORT: String(port) };
  const probes = { PROBE_PORT: String(probePort) };
  if (app === 'network-simulator' || app === 'stripe-simulator') return own;
  if (app === 'mailbox') return { ...own, SMTP_PORT: String(smtpPort) };
  return app === 'session-worker' || app === 'webhook-dispatcher' ? probes : { ...own, ...probes };
}

function edgeSwitches({ regions, publicUrl }: AppEnvironmentFacts): Switches {
  const hosts = Object.fromEntries(regions.map(({ code, edgeUrl }) => [code, edgeUrl]));
  return { ALLOW_PRIVATE_WEBHOOKS: 'true', REGION_HOSTS: JSON.stringify(hosts), DOCS_URL: `${publicUrl}/docs` };
}

/** What reaches the whole installation. */
function globalSwitches({ globalDatabaseUrls, regions }: AppEnvironmentFacts, app: StoreApp): Switches {
  const entries = regions.map(({ code, edgeUrl: gatewayUrl, stores: { accounts } }) => {
    const { databaseUrl, redisUrl, objects: storage } = accounts[app];
    return [code, { databaseUrl, redisUrl, gatewayUrl, storage }];
  });
  return {
    GLOBAL_DATABASE_URL: globalDatabaseUrls[app],
    REDIS_URL: regions[0].stores.accounts[app].redisUrl,
    REGIONS: JSON.stringify(Object.fromEntries(entries)),
  };
}

/** How people sign in, get mail, and pay. */
function peopleSwitches({ installation, publicUrl, smtp, billing }: AppEnvironmentFacts): Switches {
  return {
    PUBLIC_URL: publicUrl,
    AUTH_SECRET: installation.secrets.auth,
    ...(smtp && { SMTP_URL: smtp.url, MAIL_FROM: smtp.from }),
    ...(billing && { BILLING_URL: billing.url, BILLING_SECRET: installation.secrets.billing }),
  };
}

/** Billing, and what stands in for Stripe and for everybody's mail. */
function moneySwitches(facts: AppEnvironmentFacts): Record<'mailbox' | 'stripe-simulator' | 'billing', Switches> {
  const { billing, dataDir, publicUrl } = facts;
  const { secrets } = facts.installation;
  const { secretKey, webhookSecret } = secrets.simulatedStripe;
  const webhook: Switches = billing
    ? { WEBHOOK_SECRET: webhookSecret, WEBHOOK_URL: `${billing.url}/stripe/webhook` }
    : {};
  const stripe: Switches = billing
    ? {
        STRIPE_SECRET_KEY: billing.stripe.secretKey,
        STRIPE_WEBHOOK_SECRET: billing.stripe.webhookSecret,
        ...(billing.stripe.url !== undefined && { STRIPE_API_URL: billing.stripe.url }),
      }
    : {};
  return {
    mailbox: {},
    'stripe-simulator': { DATA_DIR: `${dataDir}/stripe`, SECRET_KEY: secretKey, ...webhook },
    billing: { ...globalSwitches(facts, 'billing'), PUBLIC_URL: publicUrl, BILLING_SECRET: secrets.billing, ...stripe },
  };
}
