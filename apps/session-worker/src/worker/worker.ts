/**
 * A session worker: owns shards, holds the sessions of their channels, runs their commands, stores what they receive.
 *
 * PostgreSQL away: sockets are closed before the leases end; when it is back, shards are claimed again and sessions open
 * without a scan. Redis away: no command arrives, sessions stay open and what they receive is stored; the dispatcher finds
 * it by polling. The network away: each session reconnects by itself.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from '@dormouse/bootstrap';
import {
  ChannelChanges,
  ChannelDirectory,
  ChannelSeals,
  checkRegion,
  recordRegion,
  resealChannel,
} from '@dormouse/channel-directory';
import { requireMigrations, type RegionalDatabase } from '@dormouse/database';
import { Downloader } from '@dormouse/media-files';
import { FreshLinks } from '@dormouse/media-store/read';
import { exportPage, GroupReader, MessageReader } from '@dormouse/message-store/read';
import {
  ChatWriter,
  EventWriter,
  GroupWriter,
  MessageWriter,
  NumberNames,
  PictureWriter,
} from '@dormouse/message-store/write';
import { publishEventsReady, publishEventsToPull } from '@dormouse/queues';
import type { ObjectStorage } from '@dormouse/object-storage';
import { requireNoEviction, type Redis } from '@dormouse/redis';
import type { WorkerMedia } from './worker-media.js';
import type { Registry } from 'prom-client';
import { AuthRows } from '../auth-state/auth-rows.js';
import { type NetworkAuthStates, networkAuthStates } from '../socket/key-format.js';
import { CanonicalNumbers } from '../commands/sending/canonical-numbers.js';
import { CommandRunner } from '../commands/command-runner.js';
import { makeHandlers } from '../commands/handlers.js';
import type { ChannelTools } from '../commands/handlers/channel.handlers.js';
import { LinkPreviews } from '../commands/sending/link-previews.js';
import { networkError } from '../commands/network-errors.js';
import { RecentNumbers } from '../commands/sending/recent-numbers.js';
import { UnconfirmedSends } from '../commands/sending/unconfirmed-sends.js';
import type { WorkerConfig } from '../config.js';
import { EventSignals } from './event-signals.js';
import { GroupStore } from '../groups/group-store.js';
import { GroupSync } from '../groups/group-sync.js';
import { AutoDownload } from '../inbound/auto-download.js';
import { AutoBehaviours } from '../inbound/auto-behaviours.js';
import { Inbound } from '../inbound/inbound.js';
import { LiveEvents } from '../inbound/live-events.js';
import { retryMessageLookup } from '../inbound/retry-message-lookup.js';
import { UnreadableSends } from '../inbound/unreadable-sends.js';
import { iconsFrom } from '../media/icons.js';
import { AvatarFetcher } from '../avatars/avatar-fetcher.js';
import { ChatTimers } from '../socket/chat-timers.js';
import { ClientVersion, newestVersion } from '../socket/client-version.js';
import { DEFAULT_BACKOFF } from '../sessions/reconnect-backoff.js';
import { createSessions } from '../sessions/create-sessions.js';
import type { SessionObserver } from '../sessions/session-context.js';
import type { Sessions } from '../sessions/sessions.js';
import { DeletedChannels } from '../retention/deleted-channels.js';
import { MessageRetention } from '../retention/message-retention.js';
import { HibernationScheduler } from '../sessions/hibernation-scheduler.js';
import { StateEvents } from '../sessions/state-events.js';
import { startShardWork } from './shard-work.js';
import { ShardLeases } from '@dormouse/database/shards';
import { DeathWatch } from '../shards/death-watch.js';
import { ShardOwner, type HeldShard, type ShardOwnerOptions, type ShardWork } from '../shards/shard-owner.js';
import { Hibernation } from '../hibernation/hibernation.js';
import { MasterKeySweep } from '../hibernation/master-key-sweep.js';
import { WakeLatencies } from '../hibernation/wake-latencies.js';
import { VERSION } from '../version.js';
import { WorkerMetrics } from './worker-metrics.js';

/** Renewals within one TTL; at each it is looked for shards without an owner. */
const RENEWALS_PER_TTL = 10;
/** Part of the TTL that is left for late timers of a busy machine, and for closing sockets. */
const MARGIN_OF_TTL = 0.3;
/** Timeout of ending a shard's work in order, so that a drain fits into 25 s. */
const FINISH_WITHIN_MS = 15_000;
/** How long a session rests after its last attempt to connect. */
const REST_MS = 3_600_000;
/** How long storing something received is retried before its socket is closed. */
const STORE_FOR_MS = 20_000;
const DEATH_WATCH_PROGRAM = fileURLToPath(new URL('../shards/death-watch-program.js', import.meta.url));
/** Interval at which the durations of wakes are written for operators. */
const WRITE_WAKES_EVERY_MS = 5_000;

export interface WorkerParts {
  readonly config: WorkerConfig;
  readonly database: RegionalDatabase;
  /** Its own connections: a renewal must never queue behind other work. */
  readonly leaseDatabase: RegionalDatabase;
  readonly redis: Redis;
  readonly storage: ObjectStorage;
  readonly media: WorkerMedia;
  readonly registry: Registry;
  readonly log: Logger;
}

export class Worker {
  private readonly leases: ShardLeases;
  private readonly owner: ShardOwner;
  private readonly deathWatch: DeathWatch;
  private readonly sleep: HibernationScheduler;
  private readonly rewrapping: MasterKeySweep;
  private readonly wakes: WakeLatencies;
  private readonly retention: readonly [MessageRetention, DeletedChannels];
  /** Notifies of changed channels: the cache of the directory, sessions, and avatars. */
  private readonly changes: ChannelChanges;

  constructor(private readonly parts: WorkerParts) {
    const { config, database, log, media, registry } = parts;
    const wait = (ms: number): Promise<void> => delay(ms);
    const changes = (this.changes = new ChannelChanges({ database, log }));
    const directory = directoryOf(parts, changes);
    const { ready: eventsReady } = signalsOf(parts, directory);
    const { reader, writer, chats, events, groups, groupReader, pictures } = storesOf(parts);
    const patience = { now: Date.now, wait, retryForMs: STORE_FOR_MS };
    const groupStore = new GroupStore({ groups, eventsReady });
    const groupSync = new GroupSync({ store: groupStore });
    const metrics: WorkerMetrics = new WorkerMetrics(registry, {
      sessions: () => sessions.countByState(),
      shards: () => this.owner.shards.length,
      lanes: () => runner.busyLanes,
    });
    const downloads = downloadsOf(parts, directory, metrics);
    const checkedNumbers = new RecentNumbers(Date.now);
    const timers = new ChatTimers((channelId, chatId) => reader.chatTimer(channelId, chatId));
    const unconfirmed = new UnconfirmedSends({ writer, eventsReady, now: Date.now });
    const avatars = new AvatarFetcher({ store: pictures, wants: wantsAvatars(directory) });
    const autoBehaviours = new AutoBehaviours({ directory, wait, now: Date.now });
    const queryGroup = groupSync.queryGroup.bind(groupSync);
    const wantsGroupNotices = wantsNotices(directory);
    const inbound = {
      ...{ writer, chats, autoBehaviours, groups, pictures, timers },
      ...{ wantsGroupNotices, queryGroup, downloads, eventsReady },
    };
    const states = stateStores(parts, metrics);
    this.wakes = wakesOf(parts);
    const sessions: Sessions = createSessions({
      ...connectionSettings(parts),
      directory,
      ...states,
      states: new StateEvents({ directory, events, eventsReady, version: VERSION, log, now: Date.now }),
      listeners: [
        groupSync,
        avatars,
        unconfirmed,
        new UnreadableSends({ ...inbound, now: Date.now }),
        new Inbound({ ...inbound, ...patience }),
        new LiveEvents({ events, directory, eventsReady, ...patience }),
      ],
      recall: retryMessageLookup(writer),
      groups: groupStore,
      onAck: metrics.acked,
      observer: observerOf(metrics, this.wakes),
    });
    changes.follow(sessions);
    changes.follow(avatars);
    this.sleep = new HibernationScheduler({
      ...config.sleep,
      ...{ sessions, directory, database, log, onRound: metrics.sleepRound },
    });
    this.retention = retentionOf(parts, metrics);
    this.rewrapping = sweepOf(parts, { ...states, sessions, metrics });
    const runner: CommandRunner = new CommandRunner({
      sessions,
      directory,
      handlers: makeHandlers({
        ...{ reader, writer, chats, timers, unconfirmed },
        ...{ checkedNumbers, numbers: new CanonicalNumbers(checkedNumbers, new NumberNames({ database })) },
        iconOf: iconsFrom(media.files, media.spool, media.images),
        ...{ groups: groupStore, groupReader, media, eventsReady, now: Date.now, wait },
        previews: new LinkPreviews(new Downloader(config.downloads), media.images),
        putToSleep: (channelId) => this.sleep.putToSleep(channelId),
        exportPage: exportsOf(parts),
      }),
      networkError,
      log,
      onAnswered: metrics.answered,
    });
    this.leases = leasesOf(parts);
    this.deathWatch = deathWatchOf(parts);
    const work = { sessions, runner, redisUrl: config.redis.url, concurrency: config.shards.commandsEach, log };
    const startWork = (held: HeldShard): ShardWork => startShardWork(held, work);
    this.owner = ownerOf({ leases: this.leases, startWork, log, onRenewal: metrics.renewed, onLost: metrics.lost });
  }

  /** Begins to claim shards. Rejects when the database cannot be reached lacks migrations or is not this worker's, or Redis evicts keys. */
  async start(): Promise<void> {
    const { config, database, redis, log } = this.parts;
    await requireNoEviction(redis, `region ${config.region}`, log);
    await requireMigrations(database.pool, 'regional');
    await recordRegion(database, config.region);
    const masterKeys = { sessions: config.masterKeys.keys, settings: config.settingsKeys.keys };
    await checkRegion(database, { region: config.region, masterKeys });
    const shards = await this.leases.ensureShards(config.shards.count);
    log.info({ workerId: config.workerId, shards }, 'worker starts');
    const freed = await this.leases.freeThoseOfEarlierWorkers();
    if (freed.length > 0)
      log.warn({ shards: freed }, 'the worker before this one in its pod died: its shards are free');
    this.changes.start();
    this.deathWatch.start();
    this.owner.start();
    this.sleep.start();
    this.rewrapping.start();
    this.wakes.start();
    for (const each of this.retention) each.start();
  }

  /** Ends everything gently and lets other workers take over. */
  async drain(): Promise<void> {
    this.sleep.stop();
    this.rewrapping.stop();
    await Promise.all([this.owner.drain(), ...this.retention.map((each) => each.stop())]);
    this.deathWatch.end();
    await this.wakes.stop();
    await this.changes.close();
  }

  async databaseAnswers(): Promise<boolean> {
    await this.parts.database.pool.query('SELECT 1');
    return true;
  }
}

function directoryOf({ database, config }: WorkerParts, changes: ChannelChanges): ChannelDirectory {
  return new ChannelDirectory({ database, changes, seals: new ChannelSeals(config.settingsKeys) });
}

function wantsNotices(directory: ChannelDirectory): (channelId: string) => Promise<boolean> {
  return async (channelId) => (await directory.byId(channelId))?.settings.group_notices ?? false;
}

function downloadsOf(
  { media, config, log }: WorkerParts,
  directory: ChannelDirectory,
  { fileEnded }: WorkerMetrics,
): AutoDownload {
  return new AutoDownload({
    ...media,
    settingsOf: async (id) => (await directory.byId(id))?.settings,
    withinMs: config.media.autoDownloadWithinMs,
    onEnded: (outcome, channelId) => {
      fileEnded(outcome);
      if (outcome === 'storage_full')
        log.info({ channelId }, 'the storage of the channel is full: a file was not fetched');
    },
  });
}

function wantsAvatars(directory: ChannelDirectory): (channelId: string) => Promise<boolean> {
  return async (channelId) => (await directory.byId(channelId))?.settings.media.init_avatars ?? false;
}

/** How sessions connect, and how often. */
function connectionSettings({ config: { sessions, network, downloads }, log }: WorkerParts) {
  return {
    ...sessions,
    network,
    proxies: downloads,
    ...versionOf(network),
    backoff: { ...DEFAULT_BACKOFF, baseMs: sessions.reconnectBaseMs },
    restMs: REST_MS,
    log,
  };
}

/** Only the real network has a newest version to look up. */
function versionOf({ socketUrl }: WorkerConfig['network']): { version?: ClientVersion } {
  return socketUrl === undefined ? { version: new ClientVersion(newestVersion) } : {};
}

/** The sessions' credentials and keys: in rows, and in snapshots. */
function stateStores(
  { database, storage, config: { masterKeys, packsPreKeys }, log }: WorkerParts,
  { damaged }: WorkerMetrics,
) {
  return {
    authStates: networkAuthStates(new AuthRows(database), masterKeys),
    hibernation: new Hibernation({ database, storage, masterKeys, packsPreKeys, log, onDamaged: damaged }),
  };
}

function wakesOf({ database, config: { workerId } }: WorkerParts): WakeLatencies {
  return new WakeLatencies({ database, workerId, everyMs: WRITE_WAKES_EVERY_MS });
}

/** Counts what happens to sessions, for metrics and for operators. */
function observerOf({ closed, wakeFailed, woken }: WorkerMetrics, wakes: WakeLatencies): SessionObserver {
  return {
    closed,
    wakeFailed,
    woken: (tookMs) => {
      woken(tookMs);
      wakes.add(tookMs);
    },
  };
}

/** Wraps stored keys by the current master key, in the background. */
function sweepOf(
  { config, database, log }: WorkerParts,
  of: {
    sessions: Sessions;
    authStates: NetworkAuthStates;
    hibernation: Hibernation;
    metrics: WorkerMetrics;
  },
): MasterKeySweep {
  const seals = new ChannelSeals(config.settingsKeys);
  return new MasterKeySweep({
    ...config.rewrap,
    database,
    currentId: config.masterKeys.currentId,
    currentSettingsId: config.settingsKeys.currentId,
    held: () => of.sessions.held,
    rewrapRows: (owner, channelId) => of.authStates.rewrap(owner, channelId),
    rewrapSnapshots: (owner, channelId) => of.hibernation.rewrap(owner, channelId),
    resealSettings: (channelId) => resealChannel(database, seals, channelId),
    log,
    onLeft: of.metrics.underOtherMasterKey,
  });
}

/** Reads pages of exports, in which files are links that work. */
function exportsOf({ database, media }: WorkerParts): ChannelTools['exportPage'] {
  const links = new FreshLinks(media.files);
  return (channelId, page) => exportPage(database, { channelId, ...page }, (messages) => links.in(channelId, messages));
}

/** What removes rows that are stored no longer: one worker of the region does it at a time. */
function retentionOf(
  { config, database, storage, media: { endFiles }, log }: WorkerParts,
  { retention: { removed, overdue, unpurged } }: WorkerMetrics,
): [MessageRetention, DeletedChannels] {
  const { days, everyMs, deletedEveryMs } = config.retention;
  const shared = { database, workerId: config.workerId, log };
  return [
    new MessageRetention({ ...shared, days, everyMs, endFiles, onRemoved: removed, onOverdue: overdue }),
    new DeletedChannels({ ...shared, storage, everyMs: deletedEveryMs, onWaiting: unpurged }),
  ];
}

function leasesOf({ config, leaseDatabase }: WorkerParts): ShardLeases {
  const { workerId, podUid, shards } = config;
  return new ShardLeases({ database: leaseDatabase, workerId, version: VERSION, ttlMs: shards.ttlMs, podUid });
}

function deathWatchOf({ config: { workerId, database, shards }, log }: WorkerParts): DeathWatch {
  return new DeathWatch({
    program: DEATH_WATCH_PROGRAM,
    workerId,
    databaseUrl: database.url,
    leaseTtlMs: shards.ttlMs,
    log,
  });
}

function ownerOf(options: Omit<ShardOwnerOptions, 'renewEveryMs' | 'marginMs' | 'finishWithinMs'>): ShardOwner {
  const { ttlMs } = options.leases;
  return new ShardOwner({
    ...options,
    renewEveryMs: ttlMs / RENEWALS_PER_TTL,
    marginMs: ttlMs * MARGIN_OF_TTL,
    finishWithinMs: FINISH_WITHIN_MS,
  });
}

function signalsOf({ redis }: WorkerParts, directory: ChannelDirectory): EventSignals {
  return new EventSignals({
    directory,
    notifyDispatcher: (channelId) => publishEventsReady(redis, channelId),
    notifyPullers: (channelIds) => publishEventsToPull(redis, channelIds),
  });
}

/** Readers and writers of what is stored. */
function storesOf({ database, media: { endFiles } }: WorkerParts) {
  return {
    reader: new MessageReader({ database }),
    writer: new MessageWriter({ database }),
    chats: new ChatWriter({ database, endFiles }),
    events: new EventWriter({ database }),
    groups: new GroupWriter({ database }),
    groupReader: new GroupReader({ database }),
    pictures: new PictureWriter({ database }),
  };
}
