/** Workers, shards and sessions of a region in the shapes that operators see. */
import {
  channelsInState,
  countInState,
  fleetChannel,
  sessionsByShard,
  type FleetChannelRow,
} from '@dormouse/channel-directory';
import type { RegionalDatabase } from '@dormouse/database';
import { shardRows, workerRows, type ShardRow, type WorkerRow } from '@dormouse/database/shards';
import { SESSION_STATES, type SessionState } from '@dormouse/gateway-contract';
import type {
  FleetChannel,
  FleetChannelList,
  FleetChannelsQuery,
  FleetShard,
  FleetWorker,
} from '@dormouse/management-contract';

type Pool = RegionalDatabase['pool'];

/** The workers of the region, or the one of this id. */
export async function readWorkers(pool: Pool, id?: string): Promise<FleetWorker[]> {
  return (await workerRows(pool, id)).map((row) => ({
    id: row.id,
    version: row.version,
    started_at: epochS(row.started_at),
    heartbeat_age_s: rounded(row.heartbeat_age_s),
    living: row.living,
    shards: row.shards,
    state: workerState(row),
    ...(row.drained_at === null ? {} : { drain_asked_at: epochS(row.drained_at) }),
  }));
}

function workerState({ draining, drained_at: drainedAt, shards }: WorkerRow): FleetWorker['state'] {
  if (draining) return 'ending';
  if (drainedAt === null) return 'taking';
  return shards.length === 0 ? 'drained' : 'draining';
}

/** The shards of the region without their queues, or the one of this number. */
export async function readShards(pool: Pool, shard?: number): Promise<Omit<FleetShard, 'commands'>[]> {
  const [rows, counts] = await Promise.all([shardRows(pool, shard), sessionsByShard(pool, SESSION_STATES, shard)]);
  const sessions = new Map<number, Partial<Record<SessionState, number>>>();
  for (const { shard: of, state, count } of counts) sessions.set(of, { ...sessions.get(of), [state]: count });
  return rows.map((row) => ({
    shard: row.shard,
    ...(row.owner_id === null ? {} : { owner: row.owner_id }),
    epoch: Number(row.epoch),
    lease_left_s: rounded(row.lease_left_s),
    ...(row.placed_on === null ? {} : { placed_on: row.placed_on }),
    state: shardState(row),
    sessions: byState(sessions.get(row.shard) ?? {}),
  }));
}

function shardState(row: ShardRow): FleetShard['state'] {
  if (row.owner_id === null) return 'waiting';
  const elsewhere = row.placed_on !== null && row.placed_on !== row.owner_id;
  return elsewhere || row.leaving ? 'moving' : 'settled';
}

export function toFleetChannel(row: FleetChannelRow): FleetChannel {
  return {
    id: row.id,
    account_id: row.account_id,
    shard: row.shard,
    state: row.session_state,
    for_s: rounded(Math.max(0, row.for_s)),
    ...(row.session_reason === null ? {} : { reason: row.session_reason }),
    linked: row.linked,
    ...(row.wake_at === null ? {} : { wake_at: epochS(row.wake_at) }),
  };
}

/** A page of the channels in a state, by shard and id. */
export async function readChannels(pool: Pool, { state, count, after }: FleetChannelsQuery): Promise<FleetChannelList> {
  const [, shard = '-1', id = ''] = /^(\d+)\.(.*)$/.exec(after ?? '') ?? [];
  const [page, total] = await Promise.all([
    channelsInState(pool, state, { shard: Number(shard), id }, count + 1),
    countInState(pool, state),
  ]);
  const rows = page.slice(0, count);
  const last = rows.at(-1);
  return {
    channels: rows.map(toFleetChannel),
    total,
    ...(page.length > count && last ? { next: `${last.shard}.${last.id}` } : {}),
  };
}

/** The channel, or undefined when the region has no such live one. */
export async function readChannel(pool: Pool, id: string): Promise<FleetChannel | undefined> {
  const row = await fleetChannel(pool, id);
  return row && toFleetChannel(row);
}

/** Every state with its count, 0 where there is none. */
export function byState(counts: Partial<Record<SessionState, number>>): Record<SessionState, number> {
  return Object.fromEntries(SESSION_STATES.map((state) => [state, counts[state] ?? 0])) as Record<SessionState, number>;
}

/** Seconds, rounded to milliseconds. */
export function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

function epochS(date: Date): number {
  return Math.floor(date.getTime() / 1_000);
}
