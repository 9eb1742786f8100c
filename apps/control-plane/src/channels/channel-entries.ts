import { defineStatement, type GlobalDatabase, type RowOf } from '@dormouse/database';
import { isRegion, type Region } from '@dormouse/gateway-contract';
import { newChannelId } from './channel-id.js';

/** The global half of a channel. */
export interface ChannelEntryRow {
  id: string;
  accountId: string;
  region: Region;
  name: string;
  createdAtMs: number;
}

const COLUMNS = 'id, account_id, region, name, created_at';
const ROW = { id: 'text', account_id: 'text', region: 'text', name: 'text', created_at: 'timestamptz' } as const;
/** Neither deleted nor unsettled: what customers see. */
const IS_VISIBLE = { deletedAt: null, unsettledSince: null };
const ID_TRIES = 10;

// Raw, not by Prisma: what is unsettled is so by the clock of the database, which all control planes share.

const BEGIN = defineStatement({
  name: 'begin-channel',
  scope: 'global',
  text: `INSERT INTO channels (id, account_id, region, name, unsettled_since) VALUES ($1, $2, $3, $4, now())
         ON CONFLICT (id) DO NOTHING RETURNING ${COLUMNS}`,
  parameters: ['text', 'text', 'text', 'text'],
  row: ROW,
});

const GIVE_UP = defineStatement({
  name: 'give-up-channel',
  scope: 'global',
  text: 'UPDATE channels SET deleted_at = now() WHERE id = $1 AND deleted_at IS NULL AND unsettled_since IS NOT NULL',
  parameters: ['text'],
});

const BEGIN_DELETION = defineStatement({
  name: 'begin-channel-deletion',
  scope: 'global',
  text: `UPDATE channels SET deleted_at = coalesce(deleted_at, now()), unsettled_since = coalesce(unsettled_since, now())
         WHERE id = $1 AND account_id = $2 AND (deleted_at IS NULL) = (unsettled_since IS NULL)
         RETURNING ${COLUMNS}`,
  parameters: ['text', 'text'],
  row: ROW,
});

const LEFT_UNSETTLED = defineStatement({
  name: 'left-unsettled-channels',
  scope: 'global',
  text: `SELECT ${COLUMNS} FROM channels WHERE region = $1 AND unsettled_since < now() - $2::float8 * interval '1 ms'
         ORDER BY unsettled_since LIMIT $3`,
  parameters: ['text', 'float8', 'int8'],
  row: ROW,
});

/**
 * Which account owns a channel and in which region it lives. A row is unsettled while it and its regional counterpart
 * may disagree; see channels.ts.
 */
export class ChannelEntries {
  constructor(
    private readonly database: Pick<GlobalDatabase, 'pool' | 'prisma'>,
    private readonly newId: () => string = newChannelId,
  ) {}

  /** How many channels an account has, including those that are just being created. */
  async countOf(accountId: string): Promise<number> {
    return this.database.prisma.channelEntry.count({ where: { accountId, deletedAt: null } });
  }

  /** Adds an entry under a new id. It is unsettled, so it is not visible yet. */
  async begin(channel: { accountId: string; region: Region; name: string }): Promise<ChannelEntryRow> {
    for (let tries = 0; tries < ID_TRIES; tries += 1) {
      const { accountId, region, name } = channel;
      const row = await BEGIN.first(this.database.pool, this.newId(), accountId, region, name);
      if (row) return toEntry(row);
    }
    throw new Error(`no free channel id in ${ID_TRIES} tries`);
  }

  /** Call when both halves of a new channel are stored: it is visible from now on. False when it was given up meanwhile. */
  async settleCreation(id: string): Promise<boolean> {
    const { count } = await this.database.prisma.channelEntry.updateMany({
      where: { id, deletedAt: null },
      data: { unsettledSince: null },
    });
    return count === 1;
  }

  /** Marks a channel whose creation is not complete as deleted; it stays unsettled. */
  async giveUp(id: string): Promise<void> {
    await GIVE_UP.count(this.database.pool, id);
  }

  /**
   * Marks a channel as deleted and unsettled. Repeating it before the deletion is settled has the same result.
   * @returns undefined when the account has no such channel
   */
  async beginDeletion(accountId: string, id: string): Promise<ChannelEntryRow | undefined> {
    const row = await BEGIN_DELETION.first(this.database.pool, id, accountId);
    return row && toEntry(row);
  }

  /** Call when the regional half is deleted, too. */
  async settleDeletion(id: string): Promise<void> {
    await this.database.prisma.channelEntry.updateMany({
      where: { id, deletedAt: { not: null } },
      data: { unsettledSince: null },
    });
  }

  /** Entries of a region that have been unsettled for longer than `forMs`, the longest first. */
  async leftUnsettled(region: Region, forMs: number, limit: number): Promise<ChannelEntryRow[]> {
    return (await LEFT_UNSETTLED.all(this.database.pool, region, forMs, limit)).map(toEntry);
  }

  async find(accountId: string, id: string): Promise<ChannelEntryRow | undefined> {
    const found = await this.database.prisma.channelEntry.findFirst({ where: { id, accountId, ...IS_VISIBLE } });
    return found ? entryOf(found) : undefined;
  }

  /** A page of the account's channels, newest first, and how many there are. */
  async list(
    accountId: string,
    page: { count: number; offset: number },
  ): Promise<{ entries: ChannelEntryRow[]; total: number }> {
    const where = { accountId, ...IS_VISIBLE };
    const { channelEntry } = this.database.prisma;
    const [entries, total] = await Promise.all([
      channelEntry.findMany({
        where,
        orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
        take: page.count,
        skip: page.offset,
      }),
      channelEntry.count({ where }),
    ]);
    return { entries: entries.map(entryOf), total };
  }
}

function toEntry({ account_id: accountId, created_at: createdAt, ...row }: RowOf<typeof BEGIN>): ChannelEntryRow {
  return entryOf({ ...row, accountId, createdAt });
}

function entryOf(entry: {
  id: string;
  accountId: string;
  region: string;
  name: string;
  createdAt: Date;
}): ChannelEntryRow {
  const { id, accountId, region, name, createdAt } = entry;
  if (!isRegion(region)) throw new Error(`channel ${id} lives in an unknown region`);
  return { id, accountId, region, name, createdAtMs: createdAt.getTime() };
}
