/**
 * The regions as the control plane reaches them: database, channel directory, Redis, commands.
 *
 * A region may be away. Asking it is bounded in time and ends in {@link RegionAwayError}; everything global goes on.
 * Redis is used for signals and for telling workers only: without it both come later by themselves.
 */
import type { Logger } from '@dormouse/bootstrap';
import {
  ChannelDirectory,
  RegionCheck,
  RegionMismatchError,
  type ChannelSeals,
  type RegionFacts,
} from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { GatewayError, type CommandInput, type CommandResult, type Region } from '@dormouse/gateway-contract';
import { FreshLinks, MediaReader } from '@dormouse/media-store/read';
import { ObjectStorage } from '@dormouse/object-storage';
import {
  CommandClient,
  publishChannelChanged,
  publishEventsReady,
  readQueueFigures,
  subscribeAllEvents,
  type CallOptions,
  type QueueFigures,
} from '@dormouse/queues';
import { closeRedis, openRedis, type Redis, type Subscription } from '@dormouse/redis';
import type { RegionAddress } from '../config.js';

/** The region did not answer, or not in time: whether it did what it was asked is not known. */
export class RegionAwayError extends Error {
  constructor(
    readonly region: Region,
    options?: ErrorOptions,
  ) {
    super(`region ${region} does not answer`, options);
    this.name = 'RegionAwayError';
  }
}

/** How long a worker has for the deletion of a session while the customer waits. It does it later otherwise. */
const WORKER_STARTS_WITHIN_MS = 2_000;
const WORKER_ANSWERS_WITHIN_MS = 6_000;
/** Connections of the control plane to one region. */
const CONNECTIONS = 5;
const STATEMENT_TIMEOUT_MS = 5_000;

export class RegionLink {
  readonly #database: RegionalDatabase;
  readonly #redis: Redis;
  readonly #commands: CommandClient;
  readonly #directory: ChannelDirectory;
  readonly #storage: ObjectStorage | undefined;
  #check: RegionCheck | undefined;
  /** Links to files in events, as they work now. */
  readonly links: Pick<FreshLinks, 'inTold'>;

  constructor(
    readonly region: Region,
    private readonly address: RegionAddress,
    private readonly log: Logger,
    /** Opens what is sealed of channels. */
    readonly seals?: ChannelSeals,
  ) {
    this.#database = openRegionalDatabase({
      url: address.databaseUrl,
      applicationName: 'control-plane',
      maxConnections: CONNECTIONS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
    this.#redis = openRedis({ url: address.redisUrl, name: `control-plane:${region}`, whenAway: 'fail', log });
    this.#storage = address.storage && new ObjectStorage(address.storage.place);
    this.links = linksOf(address, this.#database, this.#storage);
    this.#commands = new CommandClient({ redisUrl: address.redisUrl, log });
    // Nothing is remembered here: customers see what they have just changed.
    this.#directory = new ChannelDirectory({ database: this.#database, cacheMs: 0, seals });
  }

  /**
   * Compares the entry of `REGIONS` with what the region's database says. A region that is away is compared later.
   * @throws {RegionMismatchError} when they disagree
   */
  async check(masterKeys: RegionFacts['masterKeys']): Promise<void> {
    const check = (this.#check = new RegionCheck({ database: this.#database, region: this.region, masterKeys }));
    await check.start();
    const { shardCount } = this.address;
    if (shardCount === undefined) return;
    const there = await this.ask((directory) => directory.shardCount()).catch(() => 0);
    if (there === 0 || there === shardCount) return;
    throw new RegionMismatchError(
      `REGIONS: ${this.region} has ${there} shards, not ${shardCount}: correct shardCount, or leave it out`,
    );
  }

  /**
   * Asks the region's directory or its database.
   * @throws {RegionAwayError} on any failure, or when it takes longer than `withinMs`; a `GatewayError` of `work` as it is
   */
  async ask<T>(
    work: (directory: ChannelDirectory, database: RegionalDatabase) => Promise<T>,
    withinMs = 10_000,
  ): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new RegionAwayError(this.region)), withinMs);
    });
    try {
      return await Promise.race([work(this.#directory, this.#database), late]);
    } catch (error) {
      const isAnswer = error instanceof RegionAwayError || error instanceof GatewayError;
      throw isAnswer ? error : new RegionAwayError(this.region, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tells whoever remembers the channel that its record changed. Without Redis they notice within a second or so. */
  async announceChange(channelId: string): Promise<void> {
    await publishChannelChanged(this.#redis, channelId).catch(() => undefined);
  }

  /** Tells the dispatcher to look at the channel now. Without Redis it does within a second or so. */
  async announceEvents(channelId: string): Promise<void> {
    await publishEventsReady(this.#redis, channelId).catch(() => undefined);
  }

  /** Hears of every channel of the region that has new events, on a connection of its own. */
  hearEvents(hear: (channelId: string) => void): Subscription {
    return subscribeAllEvents(this.#redis, hear);
  }

  /**
   * Has the owner of the channel unlink the number and forget its session.
   * @returns false when no worker did it in time; it is then up to the owner to find the deleted channel in its directory
   */
  async endSession(channel: { id: string; shard: number }, requestId: string): Promise<boolean> {
    try {
      const times = { startWithinMs: WORKER_STARTS_WITHIN_MS, answerWithinMs: WORKER_ANSWERS_WITHIN_MS };
      await this.command(channel, 'channel.delete', {}, { requestId, ...times });
      return true;
    } catch (error) {
      const status = error instanceof GatewayError ? error.status : undefined;
      this.log.info({ channelId: channel.id, requestId, status }, 'no worker has ended the session yet');
      return false;
    }
  }

  /** Says a command to a channel. @throws {GatewayError} its failure; 503: it was not done and never will be */
  async command<Name extends 'channel.delete' | 'channel.sleep' | 'channel.wake'>(
    channel: { id: string; shard: number },
    name: Name,
    input: CommandInput<Name>,
    options: CallOptions,
  ): Promise<CommandResult<Name>> {
    return this.#commands.call(channel, name, input, options);
  }

  /** What lies in the queues of shards; undefined while Redis does not answer. */
  async queueFigures(shards: readonly number[]): Promise<ReadonlyMap<number, QueueFigures> | undefined> {
    try {
      const figures = await readQueueFigures(this.#redis, shards, Date.now());
      return new Map(figures.map((each) => [each.shard, each]));
    } catch (error) {
      this.log.warn({ err: error, region: this.region }, 'the command queues cannot be looked into');
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
): Pick<FreshLinks, 'inTold'> {
  if (!configured || !storage) return { inTold: (_channelId, told) => Promise.resolve([...told]) };
  return new FreshLinks(new MediaReader({ database, storage, linkTtlS: configured.linkTtlS }));
}

export class Regions {
  readonly #links: ReadonlyMap<Region, RegionLink>;

  constructor(addresses: ReadonlyMap<Region, RegionAddress>, log: Logger, seals?: ChannelSeals) {
    this.#links = new Map(
      [...addresses].map(([region, address]) => [region, new RegionLink(region, address, log, seals)]),
    );
  }

  /** Compares every region's entry with its database. @throws {RegionMismatchError} */
  async check(masterKeys: RegionFacts['masterKeys']): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.check(masterKeys)));
  }

  /** The regions of this installation; the first is the one for channels that name none. */
  get names(): Region[] {
    return [...this.#links.keys()];
  }

  /** The link of a region, or undefined when it is not part of this installation. */
  link(region: string): RegionLink | undefined {
    return [...this.#links.values()].find((link) => link.region === region);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.close()));
  }
}
