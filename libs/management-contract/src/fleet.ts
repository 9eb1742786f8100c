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
  waiting: count.describe('Commands that wait for a worker.'),
  running: count.describe('Commands that a worker took and has not answered.'),
  oldest_age_s: seconds.describe('Age of the oldest waiting command; 0 when none waits.'),
});

/** Figures of a region. */
export const regionFigures = z.object({
  region,
  workers: z.object({
    living: count.describe('Their heartbeat is younger than a lease lasts.'),
    draining: count.describe(
      'Of those: they take no shards, because an operator drained them or because they are shutting down.',
    ),
  }),
  shards: z.object({
    total: count,
    without_owner: count.describe(
      'Shards without a valid lease: commands of their channels wait until a worker takes the shard.',
    ),
  }),
  sessions: z.record(sessionState, count).describe('Channels by the state of their session.'),
  sleeping: z.object({
    count,
    overdue: count.describe('Their time to be woken passed more than a minute ago.'),
    most_overdue_s: seconds.describe('How long ago it passed for the most overdue one.'),
  }),
  wakes: z.object({
    window_s: z
      .int()
      .describe('Wakes that ended with an open socket, of all workers, in the last `window_s` seconds; exact to 5 %.'),
    count,
    p50_ms: z.int().optional(),
    p95_ms: z.int().optional(),
    max_ms: z.int().optional(),
  }),
  commands: queued.optional(),
  events: z.object({
    backlog: count.describe('Not passed by their webhook yet; those it has not fetched count until it does.'),
    webhooks_behind: count.describe('Webhooks with such events.'),
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
  heartbeat_age_s: seconds.describe("Since its last heartbeat, by the database's clock."),
  living: z.boolean().describe('False: its heartbeats stopped. It stays in the list for an hour or so.'),
  shards: z.array(z.int()).describe('Numbers of the shards whose lease it holds.'),
  state: z
    .enum(['taking', 'draining', 'drained', 'ending'])
    .describe(
      '* `taking`: it takes its share. `draining`: an operator drained it, and it still holds shards. `drained`: it holds none. `ending`: its process is shutting down.',
    ),
  drain_asked_at: epochS.optional().describe('When an operator drained it.'),
});
export type FleetWorker = z.output<typeof fleetWorker>;

/** Answer of GET /api/v1/fleet/{region}/workers. */
export const fleetWorkerList = z.object({ workers: z.array(fleetWorker) });
export type FleetWorkerList = z.output<typeof fleetWorkerList>;

export const fleetShard = z.object({
  shard: z.int(),
  owner: z.string().optional().describe('Absent: no worker has a valid lease.'),
  epoch: z.int().describe('Grows with every change of owner.'),
  lease_left_s: seconds.describe('How long the lease still holds without being renewed; 0 without an owner.'),
  placed_on: z.string().optional().describe('The worker that an operator placed it on.'),
  state: z
    .enum(['settled', 'moving', 'waiting'])
    .describe(
      '`settled`: it is where it should be. `moving`: its worker hands it over. `waiting`: no worker holds it.',
    ),
  sessions: z.record(sessionState, count).describe('Its channels by the state of their session.'),
  commands: queued.optional(),
});
export type FleetShard = z.output<typeof fleetShard>;

/** Answer of GET /api/v1/fleet/{region}/shards, by number. */
export const fleetShardList = z.object({ shards: z.array(fleetShard) });
export type FleetShardList = z.output<typeof fleetShardList>;

/** Body of PUT /api/v1/fleet/{region}/shards/{shard}/placement. */
export const placementBody = z.object({
  worker: plainText
    .min(1, 'must name a worker of GET /workers')
    .max(200, 'must have at most 200 characters')
    .describe('A living worker of the region that takes shards.'),
});
export type PlacementBody = z.output<typeof placementBody>;

/** Query of GET /api/v1/fleet/{region}/channels. */
export const fleetChannelsQuery = z.object({
  state: z.enum(SESSION_STATES, `must be one of ${SESSION_STATES.join(', ')}`),
  count: wholeNumber(1, 500, 100),
  after: plainText
    .regex(/^\d{1,9}\..{1,100}$/, 'must be what `next` of the previous page contains')
    .optional()
    .describe('`next` of the page before.'),
});
export type FleetChannelsQuery = z.output<typeof fleetChannelsQuery>;

export const fleetChannel = z.object({
  id: z.string(),
  account_id: z.string(),
  shard: z.int(),
  state: sessionState,
  for_s: seconds.describe('Seconds for which it has been in this state.'),
  reason: z.string().optional().describe('Name of the close reason; absent while nothing is wrong.'),
  linked: z.boolean(),
  wake_at: epochS.optional().describe('When it is woken next without a request.'),
});
export type FleetChannel = z.output<typeof fleetChannel>;

/** By shard and id. */
export const fleetChannelList = z.object({
  channels: z.array(fleetChannel),
  total: count.describe('All channels in this state.'),
  next: z.string().optional().describe('Present when there are more.'),
});
export type FleetChannelList = z.output<typeof fleetChannelList>;

const ofAll = <Item extends z.ZodType>(item: Item) =>
  z.object({
    total: count.describe('All there are; the list may be shorter.'),
    first: z.array(item),
  });

/** Answer of GET /api/v1/fleet/{region}/stuck: what does not mend itself in time; each list holds the worst hundred. */
export const stuckThings = z.object({
  shards_without_owner: ofAll(z.object({ shard: z.int(), for_s: seconds.optional() })),
  late_commands: ofAll(z.object({ shard: z.int(), late_s: seconds, waiting: count }))
    .optional()
    .describe(
      'Queues whose oldest command is past the time by which it had to start; absent while Redis does not answer.',
    ),
  slow_channels: ofAll(fleetChannel).describe(
    'Connecting or waking for more than two minutes, or in the middle of falling asleep for as long.',
  ),
  closed_channels: ofAll(fleetChannel).describe('Linked and closed for a reason that stays until a person has acted.'),
  damaged_snapshots: ofAll(
    z.object({
      channel_id: z
        .string()
        .describe(
          'Snapshots of awake channels that were passed over because they did not open, and channels none of whose did.',
        ),
      shard: z.int(),
      generations: z.array(z.int()).describe('Numbers of the damaged generations; empty where none opens.'),
      lost: z.boolean().describe('True: no snapshot opens, the number must be linked anew or its master key put back.'),
    }),
  ),
  dead_letters: ofAll(
    z
      .object({ channel_id: z.string(), webhook: z.string(), dead_letters: count, oldest_age_s: seconds })
      .describe('Webhooks with events that were not accepted within 72 h.'),
  ),
  failing_webhooks: ofAll(
    z.object({
      channel_id: z.string().describe('Webhooks whose last attempt failed, by how long their oldest event waits.'),
      webhook: z.string(),
      attempts: count,
      backlog: count,
      oldest_age_s: seconds,
      last_error: z.string().optional(),
    }),
  ),
});
export type StuckThings = z.output<typeof stuckThings>;

/** Query of GET /api/v1/fleet/{region}/history. */
export const fleetHistoryQuery = z.object({ minutes: wholeNumber(1, 60, 60) });
export type FleetHistoryQuery = z.output<typeof fleetHistoryQuery>;

/** Answer of GET /api/v1/fleet/{region}/history: a point for every minute, the oldest first. */
export const fleetHistory = z.object({
  region,
  points: z.array(
    z.object({
      at: epochS.describe('When the minute began, in epoch seconds.'),
      sessions: z
        .record(sessionState, count)
        .optional()
        .describe(
          'Channels by the state of their session; absent: nothing was noted in this minute, as the region was away.',
        ),
      backlog: count.optional().describe('Events that were not passed by their webhook.'),
      waiting: count.optional().describe('Commands that waited for a worker; absent while Redis did not answer.'),
      wakes: z.object({
        count,
        p50_ms: z.int().optional(),
        p95_ms: z.int().optional(),
        max_ms: z.int().optional(),
      }),
    }),
  ),
});
export type FleetHistory = z.output<typeof fleetHistory>;
