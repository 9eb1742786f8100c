import { z } from 'zod';
import { STORE_APPS } from './app-names.js';

const optionalUrl = z
  .string()
  .optional()
  .transform((value) => value || undefined);

const environment = z.object({
  /** An existing global database; unset: an own PostgreSQL is started. */
  GLOBAL_DATABASE_URL: optionalUrl,
  /** An existing regional database; unset: an own PostgreSQL is started. */
  REGIONAL_DATABASE_URL: optionalUrl,
  /** An existing Redis; unset: an own one is started. */
  REDIS_URL: optionalUrl,
  /** An existing S3 service; unset: objects are kept in a folder. The four belong together. */
  S3_ENDPOINT: optionalUrl,
  S3_BUCKET: optionalUrl,
  S3_ACCESS_KEY_ID: optionalUrl,
  S3_SECRET_ACCESS_KEY: optionalUrl,
  /** Stripe's secret key, and what it signs webhooks with: with the two, billing is started. They belong together. */
  STRIPE_SECRET_KEY: optionalUrl,
  STRIPE_WEBHOOK_SECRET: optionalUrl,
  /** Server that sends mail, and the address it comes from; unset: people are invited by links to copy. They belong together. */
  SMTP_URL: optionalUrl,
  MAIL_FROM: optionalUrl,
  /** Where browsers reach the management API; unset: on this machine. */
  PUBLIC_URL: optionalUrl,
  /** Path of a redis-server or valkey-server outside the PATH. */
  REDIS_SERVER: optionalUrl,
  /** Integration tests use these throw-away stores instead of bringing up their own. */
  TEST_GLOBAL_DATABASE_URL: optionalUrl,
  TEST_REGIONAL_DATABASE_URL: optionalUrl,
  TEST_REDIS_URL: optionalUrl,
  /** Where journeys get the stacks that they share; set by their global setup. */
  TEST_SHARED_STACKS_URL: optionalUrl,
});

/** What the launcher and the test stores read from the environment. */
export interface LauncherEnvironment {
  globalDatabaseUrl?: string;
  regionalDatabaseUrl?: string;
  redisUrl?: string;
  redisServer?: string;
  objects?: { endpoint: string; bucket: string; accessKeyId: string; secretAccessKey: string };
  stripe?: { secretKey: string; webhookSecret: string };
  smtp?: { url: string; from: string };
  publicUrl?: string;
  test: { globalDatabaseUrl?: string; regionalDatabaseUrl?: string; redisUrl?: string; sharedStacksUrl?: string };
}

/** @throws when only some of the switches that belong together are set */
export function readEnvironment(source: NodeJS.ProcessEnv = process.env): LauncherEnvironment {
  const read = environment.parse(source);
  return {
    globalDatabaseUrl: read.GLOBAL_DATABASE_URL,
    regionalDatabaseUrl: read.REGIONAL_DATABASE_URL,
    redisUrl: read.REDIS_URL,
    redisServer: read.REDIS_SERVER,
    objects: readObjects(read),
    stripe: readPair(read, 'STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', (secretKey, webhookSecret) => ({
      secretKey,
      webhookSecret,
    })),
    smtp: readPair(read, 'SMTP_URL', 'MAIL_FROM', (url, from) => ({ url, from })),
    publicUrl: read.PUBLIC_URL,
    test: {
      globalDatabaseUrl: read.TEST_GLOBAL_DATABASE_URL,
      regionalDatabaseUrl: read.TEST_REGIONAL_DATABASE_URL,
      redisUrl: read.TEST_REDIS_URL,
      sharedStacksUrl: read.TEST_SHARED_STACKS_URL,
    },
  };
}

function readPair<Pair>(
  read: z.infer<typeof environment>,
  first: keyof typeof read,
  second: keyof typeof read,
  make: (first: string, second: string) => Pair,
): Pair | undefined {
  const [one, other] = [read[first], read[second]];
  if (one && other) return make(one, other);
  if (one || other) throw new Error(`Set ${first} and ${second} together, or neither.`);
  return undefined;
}

type ObjectSwitches = Pick<
  z.infer<typeof environment>,
  'S3_ENDPOINT' | 'S3_BUCKET' | 'S3_ACCESS_KEY_ID' | 'S3_SECRET_ACCESS_KEY'
>;

function readObjects(read: ObjectSwitches): LauncherEnvironment['objects'] {
  const {
    S3_ENDPOINT: endpoint,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secret,
  } = read;
  if (endpoint && bucket && accessKeyId && secret) return { endpoint, bucket, accessKeyId, secretAccessKey: secret };
  if (endpoint || bucket || accessKeyId || secret) {
    throw new Error('Set S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY together, or none of them.');
  }
  return undefined;
}

/** Hands the addresses of the test stores to the specs: Jest gives its workers a copy of this environment. */
export function publishTestStores(urls: { global: string; regional: string; redis: string }): void {
  process.env.TEST_GLOBAL_DATABASE_URL = urls.global;
  process.env.TEST_REGIONAL_DATABASE_URL = urls.regional;
  process.env.TEST_REDIS_URL = urls.redis;
}

/** Publishes to the journeys where the stacks are that they share. */
export function publishSharedStacks(url: string): void {
  process.env.TEST_SHARED_STACKS_URL = url;
}

/** The environment for child processes: what the system and Node need, none of our own switches. */
export function inheritedEnvironment(): NodeJS.ProcessEnv {
  const own = new Set(Object.keys(environment.shape));
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.has(name)));
}

const objectServer = z.object({
  /** Port and address of the server. */
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  HOST: z.string().default('127.0.0.1'),
  /** Folder of the buckets. */
  DATA_DIR: z.string().min(1),
  /** The bucket that is there from the start, and who may use it. */
  S3_BUCKET: z.string().min(3),
  S3_ACCESS_KEY_ID: z.string().min(1),
  S3_SECRET_ACCESS_KEY: z.string().min(8),
});

/** The switches of the object store as a server of its own. @throws a ZodError that names what is wrong */
export function readObjectServerEnvironment(source: NodeJS.ProcessEnv = process.env): z.output<typeof objectServer> {
  return objectServer.parse(source);
}

/** PostgreSQL prepares others than ASCII before it checks them; short ones can be guessed. */
const accountPassword = z.string().regex(/^[!-~]{16,}$/, 'must be at least 16 characters of ASCII, without spaces');

const preparation = z.object({
  /** The two databases; they are made if they do not exist. */
  GLOBAL_DATABASE_URL: z.string().min(1),
  REGIONAL_DATABASE_URL: z.string().min(1),
  /** JSON: app to the password of its account in PostgreSQL; of apps that it does not name none is set. */
  DATABASE_PASSWORDS: z
    .string()
    .default('{}')
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue('must be JSON: {"<app>":"<password>"}');
        return z.NEVER;
      }
    })
    .pipe(z.partialRecord(z.enum(STORE_APPS), accountPassword)),
  /** A bucket that is made if it does not exist, with a key that may make it. Absent: it is there. The four belong together. */
  S3_ENDPOINT: optionalUrl,
  S3_BUCKET: optionalUrl,
  S3_ACCESS_KEY_ID: optionalUrl,
  S3_SECRET_ACCESS_KEY: optionalUrl,
  /** Key of the first account for the management API. */
  ACCOUNT_KEY: z.string().min(24),
});

export type PreparationEnvironment = z.output<typeof preparation> & Pick<LauncherEnvironment, 'objects'>;

/** The switches of an installation's preparation. @throws an error that names what is wrong */
export function readPreparationEnvironment(source: NodeJS.ProcessEnv = process.env): PreparationEnvironment {
  const read = preparation.parse(source);
  return { ...read, objects: readObjects(read) };
}
