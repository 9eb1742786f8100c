/**
 * What operators read and do under /fleet.
 *
 * Guarantees: every read is of the present state. A drain and a placement are stored in the region's database, where
 * workers read them. Once answered with success they hold, whatever happens to Redis, a worker or this process; 202 means
 * that they are stored but not carried out yet. Repeating a request changes nothing. Sleep and wake are commands to the
 * channel's worker: success means done, 503 that nothing was done. Every action is logged with its operator.
 * The region's database away: 503. Redis away: figures lack the queues, sleep and wake are 503.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { appendAudit } from '@dormouse/audit-log';
import type { Logger } from '@dormouse/bootstrap';
import { isStoreAway, type GlobalDatabase, type RegionalDatabase } from '@dormouse/database';
import { endPlacement, placeShard, setDrain, shardNumbers } from '@dormouse/database/shards';
import { GatewayError } from '@dormouse/gateway-contract';
import type {
  FleetChannel,
  FleetChannelList,
  FleetChannelsQuery,
  FleetFigures,
  FleetShard,
  FleetShardList,
  FleetWorker,
  FleetWorkerList,
  RegionFigures,
  StuckThings,
} from '@dormouse/management-contract';
import type { QueueFigures } from '@dormouse/queues';
import type { Cause } from '../accounts/cause.js';
import { regionAway } from '../channels/channels.js';
import type { Operator } from '../operators/operator-keys.js';
import { RegionAwayError, type RegionLink, type Regions } from '../regions/regions.js';
import { readChannel, readChannels, readShards, readWorkers, rounded } from './fleet-rows.js';
import { readRegionFigures } from './region-figures.js';
import { readStuck } from './stuck-rows.js';

/** The operator behind an action, and the request it came in. */
export interface ActionSource {
  operator: Operator;
  requestId: string;
  /** Of the audit log. */
  cause: Cause;
}

/** What an action is about. */
interface ActionTarget {
  region: string;
  kind: 'worker' | 'shard' | 'channel';
  id: string;
  /** Whose channel it is. */
  accountId?: string;
  /** Where a shard is placed. */
  worker?: string;
}

const SLEEP_TIMEOUT_MS = 20_000;
const WAKE_TIMEOUT_MS = 30_000;
const RETRY_AFTER_S = 2;
/** Polls for the stored state of a session that was opened: how many, and the interval between two. */
const STATE_POLLS = 20;
const STATE_POLL_INTERVAL_MS = 50;
/** Upper bound of shard numbers in any region. */
const MAX_SHARD = 4_096;
/** Length of the list of late queues; the same as of the lists from the database. */
const FIRST = 100;
/** A worker rejects late commands itself. One that is still queued this long after its deadline has no worker. */
const LATE_AFTER_MS = 1_000;

export class Fleet {
  constructor(
    private readonly regions: Regions,
    private readonly log: Logger,
    private readonly database: Pick<GlobalDatabase, 'pool'>,
  ) {}

  get names(): readonly string[] {
    return this.regions.names;
  }

  /** Figures of every region; one that does not answer has `available: false`. */
  async figures(): Promise<FleetFigures> {
    const regions = await Promise.all(
      this.regions.names.map(async (region) => {
        try {
          return { available: true as const, ...(await this.region(region)) };
        } catch (error) {
          this.log.warn({ err: error, region }, 'reading the figures of a region failed');
          return { region, available: false as const };
        }
      }),
    );
    return { regions };
  }

  readonly region = async (name: string): Promise<RegionFigures> => {
    const link = this.linkOf(name);
    const { figures, shards } = await queryRegion(link, async ({ pool }) => {
      const numbers = await shardNumbers(pool);
      return { figures: await readRegionFigures(pool, numbers), shards: numbers };
    });
    const queues = await link.queueFigures(shards);
    return { region: link.region, ...figures, ...(queues ? { commands: summed([...queues.values()]) } : {}) };
  };

  async workers(region: string): Promise<FleetWorkerList> {
    return { workers: await queryRegion(this.linkOf(region), ({ pool }) => readWorkers(pool)) };
  }

  async worker(region: string, id: string): Promise<FleetWorker> {
    const [worker] = await queryRegion(this.linkOf(region), ({ pool }) => readWorkers(pool, id));
    if (!worker) throw workerNotFound();
    return worker;
  }

  /** Drains a worker of its shards, or lets it take its share again. */
  async setDrain(source: ActionSource, region: string, id: string, drained: boolean): Promise<FleetWorker> {
    if (!(await queryRegion(this.linkOf(region), ({ pool }) => setDrain(pool, id, drained)))) throw workerNotFound();
    await this.#audit(source, drained ? 'worker.drain' : 'worker.undrain', { region, kind: 'worker', id });
    return this.worker(region, id);
  }

  async shards(region: string): Promise<FleetShardList> {
    const link = this.linkOf(region);
    return { shards: await this.#withQueues(link, await queryRegion(link, ({ pool }) => readShards(pool))) };
  }

  async shard(region: string, number: string): Promise<FleetShard> {
    const link = this.linkOf(region);
    const shard = shardNumber(number);
    const found = await queryRegion(link, ({ pool }) => readShards(pool, shard));
    const [shown] = await this.#withQueues(link, found);
    if (!shown) throw shardNotFound();
    return shown;
  }

  /** Moves a shard to a worker. @throws 400 when that worker takes no shards */
  async place(source: ActionSource, region: string, number: string, worker: string): Promise<FleetShard> {
    await this.shard(region, number);
    const placed = await queryRegion(this.linkOf(region), ({ pool }) => placeShard(pool, shardNumber(number), worker));
    if (!placed) {
      const details = 'worker: must be a live worker of this region that is neither drained nor shutting down';
      throw new GatewayError(400, { details });
    }
    await this.#audit(source, 'shard.place', { region, kind: 'shard', id: number, worker });
    return this.shard(region, number);
  }

  /** Removes the placement of a shard, so that it is distributed with the others. */
  async unplace(source: ActionSource, region: string, number: string): Promise<FleetShard> {
    await this.shard(region, number);
    await queryRegion(this.linkOf(region), ({ pool }) => endPlacement(pool, shardNumber(number)));
    await this.#audit(source, 'shard.unplace', { region, kind: 'shard', id: number });
    return this.shard(region, number);
  }

  async channels(region: string, query: FleetChannelsQuery): Promise<FleetChannelList> {
    return queryRegion(this.linkOf(region), ({ pool }) => readChannels(pool, query));
  }

  async channel(region: string, id: string): Promise<FleetChannel> {
    const channel = await queryRegion(this.linkOf(region), ({ pool }) => readChannel(pool, id));
    if (!channel) throw new GatewayError(404, { message: 'channel not found', details: `not in region ${region}` });
    return channel;
  }

  /** Puts a number to sleep now. @throws 403 when it is not linked; 503 when it stays awake */
  async sleep(source: ActionSource, region: string, id: string): Promise<FleetChannel> {
    const channel = await this.#linked(region, id);
    if (channel.state === 'hibernated') return channel;
    await this.#audit(source, 'channel.sleep', { region, kind: 'channel', id, accountId: channel.account_id });
    const { asleep } = await this.linkOf(region).command(
      channel,
      'channel.sleep',
      {},
      options(source, SLEEP_TIMEOUT_MS),
    );
    const now = await this.channel(region, id);
    if (asleep || now.state === 'hibernated') return now;
    const details = `the number stays awake: it is ${now.state === 'open' ? 'in use' : now.state}`;
    throw new GatewayError(503, { message: 'not put to sleep', details, retryAfterS: RETRY_AFTER_S });
  }

  /** Wakes a number now. @throws 403 when it is not linked; 503 when it did not open in time */
  async wake(source: ActionSource, region: string, id: string): Promise<FleetChannel> {
    const channel = await this.#linked(region, id);
    if (channel.state === 'open') return channel;
    await this.#audit(source, 'channel.wake', { region, kind: 'channel', id, accountId: channel.account_id });
    await this.linkOf(region).command(channel, 'channel.wake', {}, options(source, WAKE_TIMEOUT_MS));
    // The socket is open; the worker stores the new state a moment later.
    for (let polls = 1; polls < STATE_POLLS; polls += 1) {
      const now = await this.channel(region, id);
      if (now.state === 'open') return now;
      await delay(STATE_POLL_INTERVAL_MS);
    }
    return this.channel(region, id);
  }

  async stuck(region: string): Promise<StuckThings> {
    const link = this.linkOf(region);
    const [stuck, shards] = await queryRegion(link, ({ pool }) => Promise.all([readStuck(pool), readShards(pool)]));
    const queues = await link.queueFigures(shards.map(({ shard }) => shard));
    if (!queues) return stuck;
    const late = [...queues.values()].filter(({ lateMs }) => lateMs > LATE_AFTER_MS);
    const worst = late.sort((a, b) => b.lateMs - a.lateMs).slice(0, FIRST);
    const first = worst.map(({ shard, lateMs, waiting }) => ({ shard, late_s: lateMs / 1_000, waiting }));
    return { ...stuck, late_commands: { total: late.length, first } };
  }

  async #linked(region: string, id: string): Promise<FleetChannel> {
    const channel = await this.channel(region, id);
    if (!channel.linked) throw new GatewayError(403, { details: 'the channel is not linked to a number' });
    return channel;
  }

  async #withQueues(link: RegionLink, shards: Omit<FleetShard, 'commands'>[]): Promise<FleetShard[]> {
    const queues = await link.queueFigures(shards.map(({ shard }) => shard));
    return shards.map((shard) => {
      const figures = queues?.get(shard.shard);
      return figures ? { ...shard, commands: summed([figures]) } : shard;
    });
  }

  /** @throws {GatewayError} 404 for a region that is not part of this installation */
  linkOf(region: string): RegionLink {
    const link = this.regions.link(region);
    if (link) return link;
    const details = `the regions of this installation are ${this.regions.names.join(', ')}`;
    throw new GatewayError(404, { message: 'region not found', details });
  }

  /** In the log of the process in any case; in the audit log while the global database answers: operators act without it, too. */
  async #audit({ operator, requestId, cause }: ActionSource, action: string, target: ActionTarget): Promise<void> {
    this.log.info({ audit: true, operator: operator.name, requestId, action, ...target }, 'operator action');
    const { region, kind, id, accountId = null, worker } = target;
    const details = { region, ...(worker === undefined ? {} : { worker }) };
    await appendAudit(this.database.pool, { ...cause, accountId, action, object: { kind, id }, details }).catch(
      (error: unknown) => {
        if (!isStoreAway(error)) throw error;
        this.log.warn({ err: error, requestId }, 'the audit log does not have an action of an operator');
      },
    );
  }
}

const options = ({ requestId }: ActionSource, timeoutMs: number) => ({
  requestId,
  startWithinMs: timeoutMs,
  answerWithinMs: timeoutMs,
});

/** @throws {GatewayError} 503 when the region's database does not answer */
/** Queries a region's database. @throws {GatewayError} 503 while it is away */
export async function queryRegion<T>(link: RegionLink, work: (database: RegionalDatabase) => Promise<T>): Promise<T> {
  try {
    return await link.run((_directory, database) => work(database));
  } catch (error) {
    throw error instanceof RegionAwayError ? regionAway(error, 'try again: repeating the request is safe') : error;
  }
}

function summed(queues: readonly QueueFigures[]): NonNullable<RegionFigures['commands']> {
  return {
    waiting: queues.reduce((sum, { waiting }) => sum + waiting, 0),
    running: queues.reduce((sum, { running }) => sum + running, 0),
    oldest_age_s: rounded(Math.max(0, ...queues.map(({ oldestAgeMs }) => oldestAgeMs)) / 1_000),
  };
}

function shardNumber(text: string): number {
  const shard = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(shard < MAX_SHARD)) throw shardNotFound();
  return shard;
}

const shardNotFound = (): GatewayError => new GatewayError(404, { message: 'shard not found' });
const workerNotFound = (): GatewayError =>
  new GatewayError(404, { message: 'worker not found', details: 'see GET workers' });
