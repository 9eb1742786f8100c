/** What is stuck in a region, from its database. Every list holds the worst hundred, and their total number. */
import { channelsStuckIn, closedChannels, damagedSnapshots } from '@dormouse/channel-directory';
import type { RegionalDatabase } from '@dormouse/database';
import { freeShardRows } from '@dormouse/database/shards';
import { failingWebhooks, stuckDeadLetters } from '@dormouse/event-outbox';
import type { SessionState } from '@dormouse/gateway-contract';
import type { StuckThings } from '@dormouse/management-contract';
import { rounded, toFleetChannel } from './fleet-rows.js';

type Pool = RegionalDatabase['pool'];

const FIRST = 100;
/** A connect, a wake or a hibernation that takes longer is stuck. */
const SLOW_AFTER_S = 120;
/** Transitional states of a session. */
const PASSING: readonly SessionState[] = ['connecting', 'waking', 'hibernating'];
/** States of a session whose snapshot was opened, if it had one. */
const AWAKE: readonly SessionState[] = ['open', ...PASSING];

/** @throws when the database does not answer */
export async function readStuck(pool: Pool): Promise<Omit<StuckThings, 'late_commands'>> {
  const [shards, slow, closed, damaged, dead, failing] = await Promise.all([
    readFreeShards(pool),
    readSlowChannels(pool),
    readClosedChannels(pool),
    readDamagedSnapshots(pool),
    readDeadLetters(pool),
    readFailingWebhooks(pool),
  ]);
  return {
    shards_without_owner: shards,
    slow_channels: slow,
    closed_channels: closed,
    damaged_snapshots: damaged,
    dead_letters: dead,
    failing_webhooks: failing,
  };
}

/** A list of the worst, from rows that have the `total` beside what they are. */
function listed<Row extends { total: number }, Item>(
  rows: readonly Row[],
  toItem: (row: Row) => Item,
): { total: number; first: Item[] } {
  return { total: rows[0]?.total ?? 0, first: rows.map(toItem) };
}

const readFreeShards = async (pool: Pool) =>
  listed(await freeShardRows(pool, FIRST), ({ shard, for_s: forS }) => ({
    shard,
    ...(forS === null ? {} : { for_s: rounded(forS) }),
  }));

const readSlowChannels = async (pool: Pool) =>
  listed(await channelsStuckIn(pool, PASSING, SLOW_AFTER_S, FIRST), toFleetChannel);

const readClosedChannels = async (pool: Pool) => listed(await closedChannels(pool, FIRST), toFleetChannel);

const readDamagedSnapshots = async (pool: Pool) =>
  listed(await damagedSnapshots(pool, AWAKE, FIRST), ({ id, shard, generations, lost }) => ({
    channel_id: id,
    shard,
    generations,
    lost,
  }));

const readDeadLetters = async (pool: Pool) =>
  listed(await stuckDeadLetters(pool, FIRST), (row) => ({
    channel_id: row.channel_id,
    webhook: row.webhook_id,
    dead_letters: row.dead_letters,
    oldest_age_s: rounded(row.oldest_age_s),
  }));

const readFailingWebhooks = async (pool: Pool) =>
  listed(await failingWebhooks(pool, FIRST), (row) => ({
    channel_id: row.channel_id,
    webhook: row.webhook_id,
    attempts: row.attempts,
    backlog: Number(row.backlog),
    oldest_age_s: rounded(Math.max(0, row.oldest_age_s ?? 0)),
    ...(row.last_error === null ? {} : { last_error: row.last_error }),
  }));
