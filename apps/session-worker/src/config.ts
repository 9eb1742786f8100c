import { hostname } from 'node:os';
import { randomBytes } from 'node:crypto';
import {
  ConfigError,
  masterKeysFrom,
  readConfig,
  requireTogether,
  variable,
  type MasterKeys,
  storageFrom,
  tracesFrom,
  traceVariable,
} from '@dormouse/bootstrap';
import { DEFAULT_MEDIA_LIMITS, MEDIA_KINDS, REGIONS } from '@dormouse/gateway-contract';
import { LONGEST_LINK_S } from '@dormouse/object-storage';
import { z } from 'zod';
import { KEEP_ALIVE_MS } from './socket/open-socket.js';
import { DEFAULT_SLEEP } from './hibernation/sleep-policy.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

const key = variable.key();

const environment = z.object({
  /** The region whose channels this worker serves. */
  REGION: z.enum(REGIONS),
  /** That region's database: `postgresql://…`. */
  REGIONAL_DATABASE_URL: variable.url('postgresql', 'postgres'),
  /** That region's Redis: commands come and answers go through it. */
  REDIS_URL: variable.url('redis', 'rediss'),
  /** Seals the data keys of channels: 32 bytes in base64. */
  MASTER_KEY: key,
  /** Name of that key, stored beside what it seals. */
  MASTER_KEY_ID: z.string().min(1),
  /** Other master keys that data keys may be sealed under, earlier or coming ones: `{"<id>":"<base64>"}`. */
  MASTER_KEYS_EARLIER: variable.json(z.record(z.string(), key)).default({}),
  /** Seals what is secret in settings of channels: 32 bytes in base64. The same in every app and every region. */
  SETTINGS_MASTER_KEY: key.optional(),
  /** Name of that key, stored beside what it seals. */
  SETTINGS_MASTER_KEY_ID: z.string().min(1).optional(),
  /** Other keys of settings, earlier or coming ones: `{"<id>":"<base64>"}`. Alone: sealed values are read, none is made. */
  SETTINGS_MASTER_KEYS_EARLIER: variable.json(z.record(z.string(), key)).default({}),
  /** After a change of a master key: how many channels a second have their keys wrapped anew at most. */
  REWRAP_PER_SECOND: variable.integer(1, 1_000).default(20),
  /** How often it is looked for channels whose keys are wrapped by another master key. */
  REWRAP_EVERY_MS: variable.integer(100, DAY_MS).default(600_000),
  /** Address of a network other than the real one (the sandbox): `ws://…` or `wss://…`. */
  NETWORK_SOCKET_URL: variable.url('ws', 'wss').optional(),
  /** The key that signs that network's certificate: 32 bytes in base64. */
  NETWORK_ROOT_KEY: key.optional(),
  /** Interval between checks that the network still answers: a dead connection is noticed after twice that and 5 s. */
  KEEP_ALIVE_MS: variable.integer(500, KEEP_ALIVE_MS).default(KEEP_ALIVE_MS),
  /** Where that network keeps files: `https://…`. */
  NETWORK_MEDIA_ORIGIN: variable.url('http', 'https').optional(),
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
  SPOOL_DIRECTORY: z.string().default('/var/tmp/dormouse-session-worker'),
  /** JSON, kind to its largest file in bytes, where it differs from the standard: `{"document":20971520}`. */
  MEDIA_LIMITS: variable.json(z.partialRecord(z.enum(MEDIA_KINDS), z.int().positive())).default({}),
  /** How long links to files work, in seconds. */
  MEDIA_LINK_TTL_S: variable.integer(60, LONGEST_LINK_S).default(86_400),
  /** What the files of a channel may take of the object storage together, in bytes; what does not fit is 413. */
  MEDIA_PER_CHANNEL_BYTES: variable.integer(1_048_576).default(21_474_836_480),
  /** How long files are kept, in days. */
  MEDIA_RETENTION_DAYS: variable.integer(1, 3_650).default(30),
  /** The ffmpeg to use; absent: one on the PATH, else the one of the optional package. */
  FFMPEG_PATH: z.string().optional(),
  /** How long a received message, and its chat, wait for its file; a later file is notified by `messages.patch`. */
  AUTO_DOWNLOAD_WITHIN_MS: variable.integer(100, 120_000).default(3_000),
  /** Pages and files may be fetched from this machine itself, and proxies be on it: development and sandbox only. */
  ALLOW_LOOPBACK_DOWNLOADS: variable.flag().default(false),
  /**
   * How many shards a region gets at its first start (8 if absent). From then on its table `shard_leases` alone counts, and this is
   * not read. To grow: infra/runbooks/add-shards.md.
   */
  SHARD_COUNT: variable.integer(1, 4_096).optional(),
  /** Name of this worker in leases and logs; a random end is added, because a restarted worker is another one. */
  WORKER_ID: z.string().min(1).max(60).optional(),
  /**
   * Uid of the pod that this worker runs in, from the downward API (`metadata.uid`): shards of a worker that died in the same pod
   * are free at once. Nothing else may be set here: what has the same uid counts as dead. Absent outside Kubernetes.
   */
  POD_UID: z.uuid().optional(),
  /** Port of /healthz, /readyz and /metrics. */
  PROBE_PORT: variable.port().default(9_091),
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
  /** Connections to the database, beside two for the leases and one that listens for changes. */
  DATABASE_CONNECTIONS: variable.integer(1, 200).default(16),
  /** Commands in hand at once for each shard, those that wait for their channel's lane included. */
  COMMANDS_PER_SHARD: variable.integer(1, 10_000).default(500),
  /** Sessions that connect at once. */
  CONNECTING_AT_ONCE: variable.integer(1, 200).default(10),
  /** Each connect waits up to this long at random. */
  START_JITTER_MS: variable.integer(0, 60_000).default(100),
  /**
   * How long a lease holds without being renewed: for how long a worker may be paused or cut off from the database before its
   * sockets are closed, and how soon another one serves the channels of a machine that is lost.
   */
  LEASE_TTL_MS: variable.integer(1_000, 300_000).default(10_000),
  /** How long a send waits for the network's acknowledgement. */
  ACK_WAIT_MS: variable.integer(100, 120_000).default(20_000),
  /** How long a session without webhooks for what arrives is without requests and traffic before it sleeps. */
  SLEEP_QUIET_IDLE_AFTER_MS: variable.integer(1_000, 30 * DAY_MS).default(DEFAULT_SLEEP.quiet.idleAfterMs ?? DAY_MS),
  /** Interval at which it is woken to fetch what came meanwhile. */
  SLEEP_QUIET_DRAIN_EVERY_MS: variable.integer(1_000, 30 * DAY_MS).default(DEFAULT_SLEEP.quiet.drainEveryMs),
  /** The same for a session with such a webhook. */
  SLEEP_LISTENING_IDLE_AFTER_MS: variable
    .integer(1_000, 30 * DAY_MS)
    .default(DEFAULT_SLEEP.listening.idleAfterMs ?? DAY_MS),
  SLEEP_LISTENING_DRAIN_EVERY_MS: variable.integer(1_000, 30 * DAY_MS).default(DEFAULT_SLEEP.listening.drainEveryMs),
  /** Interval between checks of who may sleep and who must wake. */
  SLEEP_CHECK_EVERY_MS: variable.integer(100, 600_000).default(5_000),
  /** How many sessions fall asleep or are woken in their turn at once. */
  WAKING_AT_ONCE: variable.integer(1, 200).default(5),
  /**
   * Whether a woken session keeps its pre-keys in one row in place of some 800, for a third of the cost of a wake. Workers before
   * the release that brought this cannot read such a row: set it when none of them runs and none will be gone back to.
   */
  PACK_PRE_KEYS: variable.flag().default(false),
  /** How many days messages, receipts, chats and contacts are stored, of channels that have no retention of their own. */
  MESSAGE_RETENTION_DAYS: variable.integer(1, 3_650).default(90),
  /** Interval between two rounds that remove what is older. */
  MESSAGE_RETENTION_EVERY_MS: variable.integer(100, DAY_MS).default(3_600_000),
  /** Interval between two rounds that remove what deleted channels have left. */
  DELETED_CHANNELS_EVERY_MS: variable.integer(100, 600_000).default(60_000),
  /** First pause before a session connects again; it doubles with every drop within the hour. */
  RECONNECT_BASE_MS: variable.integer(1, 60_000).default(1_000),
});

export type WorkerConfig = ReturnType<typeof workerConfig>;

/** Reads the environment. @throws ConfigError naming every variable that is wrong */
export function workerConfig(source: NodeJS.ProcessEnv = process.env) {
  const read = readConfig(environment, source);
  requireTogether(read, ['NETWORK_SOCKET_URL', 'NETWORK_ROOT_KEY']);
  if (read.NETWORK_MEDIA_ORIGIN !== undefined) requireTogether(read, ['NETWORK_SOCKET_URL', 'NETWORK_MEDIA_ORIGIN']);
  return {
    region: read.REGION,
    workerId: `${read.WORKER_ID ?? hostname()}-${randomBytes(4).toString('hex')}`,
    podUid: read.POD_UID,
    logLevel: read.LOG_LEVEL,
    traces: tracesFrom(read),
    probes: { port: read.PROBE_PORT, host: read.HOST },
    database: { url: read.REGIONAL_DATABASE_URL, maxConnections: read.DATABASE_CONNECTIONS },
    redis: { url: read.REDIS_URL },
    ...keysOf(read),
    retention: {
      days: read.MESSAGE_RETENTION_DAYS,
      everyMs: read.MESSAGE_RETENTION_EVERY_MS,
      deletedEveryMs: read.DELETED_CHANNELS_EVERY_MS,
    },
    rewrap: { perSecond: read.REWRAP_PER_SECOND, everyMs: read.REWRAP_EVERY_MS },
    network: {
      keepAliveMs: read.KEEP_ALIVE_MS,
      ...(read.NETWORK_SOCKET_URL === undefined ? {} : { socketUrl: read.NETWORK_SOCKET_URL }),
      ...(read.NETWORK_ROOT_KEY === undefined ? {} : { rootKey: read.NETWORK_ROOT_KEY }),
      ...(read.NETWORK_MEDIA_ORIGIN === undefined ? {} : { fileOrigin: read.NETWORK_MEDIA_ORIGIN }),
    },
    storage: storageFrom(read),
    media: {
      spoolDirectory: read.SPOOL_DIRECTORY,
      limits: { ...DEFAULT_MEDIA_LIMITS, ...read.MEDIA_LIMITS },
      linkTtlS: read.MEDIA_LINK_TTL_S,
      retentionMs: read.MEDIA_RETENTION_DAYS * DAY_MS,
      maxBytesPerChannel: read.MEDIA_PER_CHANNEL_BYTES,
      networkOrigin: read.NETWORK_MEDIA_ORIGIN,
      ffmpegPath: read.FFMPEG_PATH,
      autoDownloadWithinMs: read.AUTO_DOWNLOAD_WITHIN_MS,
    },
    downloads: { allowLoopback: read.ALLOW_LOOPBACK_DOWNLOADS },
    shards: { count: read.SHARD_COUNT, ttlMs: read.LEASE_TTL_MS, commandsEach: read.COMMANDS_PER_SHARD },
    sessions: {
      connectingAtOnce: read.CONNECTING_AT_ONCE,
      startJitterMs: read.START_JITTER_MS,
      ackWaitMs: read.ACK_WAIT_MS,
      reconnectBaseMs: read.RECONNECT_BASE_MS,
    },
    packsPreKeys: read.PACK_PRE_KEYS,
    sleep: {
      defaults: {
        quiet: { idleAfterMs: read.SLEEP_QUIET_IDLE_AFTER_MS, drainEveryMs: read.SLEEP_QUIET_DRAIN_EVERY_MS },
        listening: {
          idleAfterMs: read.SLEEP_LISTENING_IDLE_AFTER_MS,
          drainEveryMs: read.SLEEP_LISTENING_DRAIN_EVERY_MS,
        },
      },
      everyMs: read.SLEEP_CHECK_EVERY_MS,
      atOnce: read.WAKING_AT_ONCE,
    },
  };
}

/** The two kinds of master keys. @throws {ConfigError} also when one key does for both: edges have that of settings */
function keysOf(read: z.output<typeof environment>): {
  masterKeys: MasterKeys;
  settingsKeys: MasterKeys<string | undefined>;
} {
  const { keys } = masterKeysFrom({
    name: 'MASTER_KEY',
    earlierName: 'MASTER_KEYS_EARLIER',
    key: read.MASTER_KEY,
    id: read.MASTER_KEY_ID,
    earlier: read.MASTER_KEYS_EARLIER,
  });
  const settingsKeys = masterKeysFrom({
    name: 'SETTINGS_MASTER_KEY',
    earlierName: 'SETTINGS_MASTER_KEYS_EARLIER',
    key: read.SETTINGS_MASTER_KEY,
    id: read.SETTINGS_MASTER_KEY_ID,
    earlier: read.SETTINGS_MASTER_KEYS_EARLIER,
  });
  for (const [id, one] of keys) {
    for (const [other, two] of settingsKeys.keys) {
      if (one.equals(two))
        throw new ConfigError([`SETTINGS_MASTER_KEY: "${other}" is the master key "${id}" of sessions; make another`]);
    }
  }
  return { masterKeys: { currentId: read.MASTER_KEY_ID, keys }, settingsKeys };
}
