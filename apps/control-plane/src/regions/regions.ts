/**
 * The control plane's access to the regions: database, channel directory, Redis, commands.
 *
 * A region may be away. Every query then ends in {@link RegionAwayError} within a timeout; the rest of the API goes on.
 * Redis carries only signals and commands to workers. Without it, edges and workers find changes by polling.
 */
import type { Logger } from '@dormouse/bootstrap';
import {
  ChannelDirectory,
  RegionCheck,
  RegionOutbox,
  type ChannelSeals,
  type RegionFacts,
  type RegionOutboxOptions,
} from '@dormouse/channel-directory';
import { missingMigrations, openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { GatewayError, type CommandInput, type CommandResult, type Region } from '@dormouse/gateway-contract';
import { FreshLinks, MediaReader } from '@dormouse/media-store/read';
import { ObjectStorage } from '@dormouse/object-storage';
import {
  CommandClient,
  publishEventsReady,
  readQueueFigures,
  subscribeAllEvents,
  type CallOptions,
  type QueueFigures,
} from '@dormouse/queues';
import { closeRedis, openRedis, requireNoEviction, type Redis, type Subscription } from '@dormouse/redis';
import pTimeout from 'p-timeout';
import type { RegionAddress } from '../config.js';

/** The region did not answer, or not in time. Whether a write took effect is not known. */
export class RegionAwayError extends Error {
  constructor(
    readonly region: Region,
    options?: ErrorOptions,
  ) {
    super(`region ${region} does not answer`, options);
    this.name = 'RegionAwayError';
  }
}

/** Timeouts of the command that ends the session of a deleted channel. After them the worker does it on its own, later. */
const WORKER_STARTS_WITHIN_MS = 2_000;
const WORKER_ANSWERS_WITHIN_MS = 6_000;
/** Connections of the control plane to one region. */
const CONNECTIONS = 5;
const STATEMENT_TIMEOUT_MS = 5_000;
const APPLICATION_NAME = 'control-plane';

export class RegionLink {
  readonly #database: RegionalDatabase;
  readonly #redis: Redis;
  readonly #commands: CommandClient;
  readonly #directory: ChannelDirectory;
  readonly #storage: ObjectStorage | undefined;
  #check: RegionCheck | undefined;
  /** Signs the links to files in events again. */
  readonly links: Pick<FreshLinks, 'inEvents'>;

  constructor(
    readonly region: Region,
    private readonly address: RegionAddress,
    private readonly log: Logger,
    /** Decrypts the secrets of channels. */
    readonly seals?: ChannelSeals,
  ) {
    this.#database = openRegionalDatabase({
      url: address.databaseUrl,
      applicationName: APPLICATION_NAME,
      maxConnections: CONNECTIONS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
    this.#redis = openRedis({ url: address.redisUrl, name: `control-plane:${region}`, whenAway: 'fail', log });
    this.#storage = address.storage && new ObjectStorage(address.storage.place);
    this.links = linksOf(address, this.#database, this.#storage);
    this.#commands = new CommandClient({ redisUrl: address.redisUrl, log });
    // No cache: customers must see what they have just changed.
    this.#directory = new ChannelDirectory({ database: this.#database, cacheMs: 0, seals });
  }

  /**
   * Compares the entry of `REGIONS` with the region's database. A region that is away is compared when it is back.
   * @throws {RegionMismatchError} when they disagree
   * @throws {EvictingRedisError} when the region's Redis evicts keys
   */
  async check(masterKeys: RegionFacts['masterKeys']): Promise<void> {
    const check = (this.#check = new RegionCheck({ database: this.#database, region: this.region, masterKeys }));
    await Promise.all([check.start(), requireNoEviction(this.#redis, `region ${this.region}`, this.log)]);
    void this.#warnIfBehind();
  }

  /** A region is upgraded by itself: where it lacks something that this version needs, it is a region that is away. */
  async #warnIfBehind(): Promise<void> {
    const missing = await missingMigrations(this.#database.pool, 'regional').catch(() => []);
    const facts = { region: this.region, missing };
    if (missing.length > 0)
      this.log.warn(facts, 'the database of a region is behind: what needs these migrations is 503');
  }

  /**
   * Runs `work` on the region's directory or its database.
   * @throws {RegionAwayError} on any failure, or when it takes longer than `timeoutMs`; a `GatewayError` of `work` as it is
   */
  async run<T>(
    work: (directory: ChannelDirectory, database: RegionalDatabase) => Promise<T>,
    timeoutMs = 10_000,
  ): Promise<T> {
    try {
      const message = new RegionAwayError(this.region);
      return await pTimeout(work(this.#directory, this.#database), { milliseconds: timeoutMs, message });
    } catch (error) {
      const isAnswer = error instanceof RegionAwayError || error instanceof GatewayError;
      throw isAnswer ? error : new RegionAwayError(this.region, { cause: error });
    }
  }

  /** Brings to the region what waits for it, once started; the caller stops it. */
  outbox(terms: Pick<RegionOutboxOptions, 'what' | 'hasWaiting' | 'deliver'>): RegionOutbox {
    const { region, log } = this;
    return new RegionOutbox({
      ...terms,
      region,
      databaseUrl: this.address.databaseUrl,
      applicationName: APPLICATION_NAME,
      log,
    });
  }

  /** Notifies the dispatcher that the channel has events to deliver. Without Redis it notices within about a second. */
  async notifyEvents(channelId: string): Promise<void> {
    await publishEventsReady(this.#redis, channelId).catch(() => undefined);
  }

  /** Calls `onEvents` for every channel of the region that has new events; uses a connection of its own. */
  subscribeEvents(onEvents: (channelId: string) => void): Subscription {
    return subscribeAllEvents(this.#redis, onEvents);
  }

  /**
   * Sends the command to unlink the number and delete its session to the channel's worker.
   * @returns false when no worker did it in time; the worker then finds the deleted channel in its directory, later
   */
  async endSession(channel: { id: string; shard: number }, requestId: string): Promise<boolean> {
    try {
      const times = { startWithinMs: WORKER_STARTS_WITHIN_MS, answerWithinMs: WORKER_ANSWERS_WITHIN_MS };
      await this.command(channel, 'channel.delete', {}, { requestId, ...times });
      return true;
    } catch (error) {
      const status = error instanceof GatewayError ? error.status : undefined;
      this.log.info(
        { channelId: channel.id, requestId, status },
        'no worker ended the session of a deleted channel in time',
      );
      return false;
    }
  }

  /** Sends a command to the channel's worker. @throws {GatewayError} its failure; 503: it was not run and never will be */
  async command<
    Name extends
      | 'channel.delete'
      | 'channel.logout'
      | 'channel.loginCode'
      | 'channel.phoneCode'
      | 'channel.sleep'
      | 'channel.exportPage'
      | 'channel.wake',
  >(
    channel: { id: string; shard: number },
    name: Name,
    input: CommandInput<Name>,
    options: CallOptions,
  ): Promise<CommandResult<Name>> {
    return this.#commands.call(channel, name, input, options);
  }

  /** Figures of the command queues of shards; undefined while Redis does not answer. */
  async queueFigures(shards: readonly number[]): Promise<ReadonlyMap<number, QueueFigures> | undefined> {
    try {
      const figures = await readQueueFigures(this.#redis, shards, Date.now());
      return new Map(figures.map((each) => [each.shard, each]));
    } catch (error) {
      this.log.warn({ err: error, region: this.region }, 'reading the command queues of a region failed');
      return undefined;
    }
  }

  async close(): Promise<void> {
    this.#check?.close();
    this.#storage?.close();
    await Promise.all([this.#commands.close(), closeRedis(this.#redis), this.#database.close()]);
  }
}

function linksOf(
  { storage: configured }: RegionAddress,
  database: RegionalDatabase,
  storage: ObjectStorage | undefined,
): Pick<FreshLinks, 'inEvents'> {
  if (!configured || !storage) return { inEvents: (_channelId, events) => Promise.resolve([...events]) };
  return new FreshLinks(new MediaReader({ database, storage, linkTtlS: configured.linkTtlS }));
}

export class Regions {
  readonly #links: ReadonlyMap<Region, RegionLink>;

  constructor(addresses: ReadonlyMap<Region, RegionAddress>, log: Logger, seals?: ChannelSeals) {
    this.#links = new Map(
      [...addresses].map(([region, address]) => [region, new RegionLink(region, address, log, seals)]),
    );
  }

  /** Compares the entry of every region with its database. @throws {RegionMismatchError} */
  async check(masterKeys: RegionFacts['masterKeys']): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.check(masterKeys)));
  }

  /** The regions of this installation. Channels that are created without a region go to the first. */
  get names(): Region[] {
    return [...this.#links.keys()];
  }

  get links(): RegionLink[] {
    return [...this.#links.values()];
  }

  /** The link of a region, or undefined when it is not part of this installation. */
  link(region: string): RegionLink | undefined {
    return this.links.find((link) => link.region === region);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.close()));
  }
}
