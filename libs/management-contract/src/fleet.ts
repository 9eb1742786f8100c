import { plainText, REGIONS, SESSION_STATES } from '@dormouse/gateway-contract';
import { z } from 'zod';
import { wholeNumber } from './fields.js';

/*
 * The fleet of each region for operators. Every operation needs an operator key; account keys are refused.
 */

const epochS = z.int();
const seconds = z.number();
const count = z.int();
const region = z.enum(REGIONS);
const sessionState = z.enum(SESSION_STATES);
/** Commands in the queues; absent while the region's Redis does not answer. */
const queued = z.object({
  /** Commands that wait for a worker. */
  waiting: count,
  /** Commands that a worker took and has not answered. */
  running: count,
  /** Age of the oldest waiting command; 0 when none waits. */
  oldest_age_s: seconds,
});

/** Figures of a region. */
export const regionFigures = z.object({
  region,
  workers: z.object({
    /** Their heartbeat is younger than a lease lasts. */
    living: count,
    /** Of those: they take no shards, because an operator drained them or because they are shutting down. */
    draining: count,
  }),
  shards: z.object({
    total: count,
    /** Shards without a valid lease: commands of their channels wait until a worker takes the shard. */
    without_owner: count,
  }),
  /** Channels by the state of their session. */
  sessions: z.record(sessionState, count),
  sleeping: z.object({
    count,
    /** Their time to be woken passed more than a minute ago. */
    overdue: count,
    /** How long ago it passed for the most overdue one. */
    most_overdue_s: seconds,
  }),
  /** Wakes that ended with an open socket, of all workers, in the last `window_s` seconds; exact to 5 %. */
  wakes: z.object({
    window_s: z.int(),
    count,
    p50_ms: z.int().optional(),
    p95_ms: z.int().optional(),
    max_ms: z.int().optional(),
  }),
  commands: queued.optional(),
  events: z.object({
    /** Not passed by their webhook yet; those it has not fetched count until it does. */
    backlog: count,
    /** Webhooks with such events. */
    webhooks_behind: count,
    oldest_age_s: seconds,
    dead_letters: count,
  }),
});
export type RegionFigures = z.output<typeof regionFigures>;

/** Answer of GET /api/v1/fleet: every region of the installation. */
export const fleetFigures = z.object({
  regions: z.array(
    z.discriminatedUnion('available', [
      regionFigures.extend({ available: z.literal(true) }),
      /** Its database does not answer. */
      z.object({ region, available: z.literal(false) }),
    ]),
  ),
});
export type FleetFigures = z.output<typeof fleetFigures>;

export const fleetWorker = z.object({
  id: z.string(),
  version: z.string(),
  started_at: epochS,
  /** Since its last heartbeat, by the database's clock. */
  heartbeat_age_s: seconds,
  /** False: its heartbeats stopped. It stays in the list for an hour or so. */
  living: z.boolean(),
  /** Numbers of the shards whose lease it holds. */
  shards: z.array(z.int()),
  /**
   * `taking`: it takes its share. `draining`: an operator drained it, and it still holds shards. `drained`: it holds none.
   * `ending`: its process is shutting down.
   */
  state: z.enum(['taking', 'draining', 'drained', 'ending']),
  /** When an operator drained it. */
  drain_asked_at: epochS.optional(),
});
export type FleetWorker = z.output<typeof fleetWorker>;

/** Answer of GET /api/v1/fleet/{region}/workers. */
export const fleetWorkerList = z.object({ workers: z.array(fleetWorker) });
export type FleetWorkerList = z.output<typeof fleetWorkerList>;

export const fleetShard = z.object({
  shard: z.int(),
  /** Absent: no worker has a valid lease. */
  owner: z.string().optional(),
  /** Grows with every change of owner. */
  epoch: z.int(),
  /** How long the lease still holds without being renewed; 0 without an owner. */
  lease_left_s: seconds,
  /** The worker that an operator placed it on. */
  placed_on: z.string().optional(),
  /** `settled`: it is where it should be. `moving`: its worker hands it over. `waiting`: no worker holds it. */
  state: z.enum(['settled', 'moving', 'waiting']),
  /** Its channels by the state of their session. */
  sessions: z.record(sessionState, count),
  commands: queued.optional(),
});
export type FleetShard = z.output<typeof fleetShard>;

/** Answer of GET /api/v1/fleet/{region}/shards, by number. */
export const fleetShardList = z.object({ shards: z.array(fleetShard) });
export type FleetShardList = z.output<typeof fleetShardList>;

/** Body of PUT /api/v1/fleet/{region}/shards/{shard}/placement. */
export const placementBody = z.object({
  /** A living worker of the region that takes shards. */
  worker: plainText.min(1, 'must name a worker of GET /workers').max(200, 'must have at most 200 characters'),
});
export type PlacementBody = z.output<typeof placementBody>;

/** Query of GET /api/v1/fleet/{region}/channels. */
export const fleetChannelsQuery = z.object({
  state: z.enum(SESSION_STATES, `must be one of ${SESSION_STATES.join(', ')}`),
  count: wholeNumber(1, 500, 100),
  /** `next` of the page before. */
  after: plainText.regex(/^\d{1,9}\..{1,100}$/, 'must be what `next` of the previous page contains').optional(),
});
export type FleetChannelsQuery = z.output<typeof fleetChannelsQuery>;

export const fleetChannel = z.object({
  id: z.string(),
  account_id: z.string(),
  shard: z.int(),
  state: sessionState,
  /** Seconds for which it has been in this state. */
  for_s: seconds,
  /** Name of the close reason; absent while nothing is wrong. */
  reason: z.string().optional(),
  linked: z.boolean(),
  /** When it is woken next without a request. */
  wake_at: epochS.optional(),
});
export type FleetChannel = z.output<typeof fleetChannel>;

/** By shard and id. */
export const fleetChannelList = z.object({
  channels: z.array(fleetChannel),
  /** All channels in this state. */
  total: count,
  /** Present when there are more. */
  next: z.string().optional(),
});
export type FleetChannelList = z.output<typeof fleetChannelList>;

const ofAll = <Item extends z.ZodType>(item: Item) =>
  z.object({
    /** All there are; the list may be shorter. */
    total: count,
    first: z.array(item),
  });

/** Answer of GET /api/v1/fleet/{region}/stuck: what does not mend itself in time; each list holds the worst hundred. */
export const stuckThings = z.object({
  shards_without_owner: ofAll(z.object({ shard: z.int(), for_s: seconds.optional() })),
  /** Queues whose oldest command is past the time by which it had to start; absent while Redis does not answer. */
  late_commands: ofAll(z.object({ shard: z.int(), late_s: seconds, waiting: count })).optional(),
  /** Connecting or waking for more than two minutes, or in the middle of falling asleep for as long. */
  slow_channels: ofAll(fleetChannel),
  /** Linked and closed for a reason that stays until a person has acted. */
  closed_channels: ofAll(fleetChannel),
  /** Snapshots of awake channels that were passed over because they did not open, and channels none of whose did. */
  damaged_snapshots: ofAll(
    z.object({
      channel_id: z.string(),
      shard: z.int(),
      /** Numbers of the damaged generations; empty where none opens. */
      generations: z.array(z.int()),
      /** True: no snapshot opens, the number must be linked anew or its master key put back. */
      lost: z.boolean(),
    }),
  ),
  /** Webhooks with events that were not accepted within 72 h. */
  dead_letters: ofAll(
    z.object({ channel_id: z.string(), webhook: z.string(), dead_letters: count, oldest_age_s: seconds }),
  ),
  /** Webhooks whose last attempt failed, by how long their oldest event waits. */
  failing_webhooks: ofAll(
    z.object({
      channel_id: z.string(),
      webhook: z.string(),
      attempts: count,
      backlog: count,
      oldest_age_s: seconds,
      last_error: z.string().optional(),
    }),
  ),
});
export type StuckThings = z.output<typeof stuckThings>;
