import { appendAudit } from '@dormouse/audit-log';
import { defineStatement, transaction, type GlobalDatabase, type Queryable, type RowOf } from '@dormouse/database';
import { GatewayError, isRegion, type Region } from '@dormouse/gateway-contract';
import { accountNotFound, lockAccount } from '../accounts/accounts.js';
import type { Cause } from '../accounts/cause.js';
import { newChannelId } from './channel-id.js';

/** The global half of a channel. */
export interface ChannelEntryRow {
  id: string;
  accountId: string;
  region: Region;
  name: string;
  createdAtMs: number;
}

export const COLUMNS = 'id, account_id, region, name, created_at';
export const ROW = { id: 'text', account_id: 'text', region: 'text', name: 'text', created_at: 'timestamptz' } as const;
/** Neither deleted nor unsettled: what customers see. */
const IS_VISIBLE = { deletedAt: null, unsettledSince: null };
const ID_TRIES = 10;

const HALF_HOUR_S = 1_800;

/** Limits of creation; 0: none. */
export interface CreationLimits {
  /** Channels of an account, deleted ones not counted. */
  channelsPerAccount: number;
  /** Channels that an account may create in half an hour, deleted ones counted; where the account has no limit of its own. */
  channelsPerHalfHour: number;
}

// Raw, not by Prisma: what is unsettled is so by the clock of the database, which all control planes share.

const BEGIN = defineStatement({
  name: 'begin-channel',
  scope: 'global',
  text: `INSERT INTO channels (id, account_id, region, name, unsettled_since) VALUES ($1, $2, $3, $4, now())
         ON CONFLICT (id) DO NOTHING RETURNING ${COLUMNS}`,
  parameters: ['text', 'text', 'text', 'text'],
  row: ROW,
});

const COUNT_CREATED = defineStatement({
  name: 'count-created-channels',
  scope: 'global',
  text: `SELECT (SELECT count(*) FROM channels c WHERE c.account_id = a.id AND c.deleted_at IS NULL)::int4 AS live,
           coalesce(a.channels_per_half_hour, $2) AS per_half_hour,
           (SELECT extract(epoch FROM c.created_at + $3::float8 * interval '1 second' - now())::float8 FROM channels c
            WHERE c.account_id = a.id AND c.created_at > now() - $3::float8 * interval '1 second'
            ORDER BY c.created_at DESC OFFSET greatest(coalesce(a.channels_per_half_hour, $2), 1) - 1 LIMIT 1) AS free_in_s
         FROM accounts a WHERE a.id = $1`,
  parameters: ['text', 'int4', 'float8'],
  row: { live: 'int4?', per_half_hour: 'int4?', free_in_s: 'float8?' },
});

const SETTLE_CREATION = defineStatement({
  name: 'settle-channel-creation',
  scope: 'global',
  text: `UPDATE channels SET unsettled_since = NULL WHERE id = $1 AND deleted_at IS NULL RETURNING ${COLUMNS}`,
  parameters: ['text'],
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
  text: `WITH before AS (
           SELECT id, deleted_at IS NULL AS is_first FROM channels WHERE id = $1 AND account_id = $2 FOR UPDATE)
         UPDATE channels c SET deleted_at = coalesce(c.deleted_at, now()), unsettled_since = coalesce(c.unsettled_since, now())
         FROM before b WHERE c.id = b.id AND (c.deleted_at IS NULL) = (c.unsettled_since IS NULL)
         RETURNING c.id, c.account_id, c.region, c.name, c.created_at, b.is_first`,
  parameters: ['text', 'text'],
  row: { ...ROW, is_first: 'bool?' },
});

const LEFT_UNSETTLED = defineStatement({
  name: 'left-unsettled-channels',
  scope: 'global',
  text: `SELECT ${COLUMNS} FROM channels WHERE region = $1 AND unsettled_since IS NOT NULL
           AND (deleted_at IS NOT NULL OR unsettled_since < now() - $2::float8 * interval '1 ms')
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

  /**
   * Adds an entry under a new id. It is unsettled, so it is not visible yet. Creations of one account wait for each other, so the
   * limits hold for many at once.
   * @throws {GatewayError} 403 beyond the number of channels, 429 beyond those of half an hour, 404 for an account that has ended
   */
  async begin(
    channel: { accountId: string; region: Region; name: string },
    limits: CreationLimits,
  ): Promise<ChannelEntryRow> {
    const { accountId, region, name } = channel;
    return transaction(this.database, async (connection) => {
      if (!(await lockAccount(connection, accountId))) throw accountNotFound();
      await requireRoom(connection, accountId, limits);
      for (let tries = 0; tries < ID_TRIES; tries += 1) {
        const row = await BEGIN.first(connection, this.newId(), accountId, region, name);
        if (row) return toEntry(row);
      }
      throw new Error(`no free channel id in ${ID_TRIES} tries`);
    });
  }

  /** How many channels an account has, including those that are just being created. */
  async countOf(accountId: string): Promise<number> {
    return this.database.prisma.channelEntry.count({ where: { accountId, deletedAt: null } });
  }

  /** Call when both halves of a new channel are stored: it is visible from now on. False when it was given up meanwhile. */
  async settleCreation(id: string, cause: Cause): Promise<boolean> {
    return transaction(this.database, async (connection) => {
      const row = await SETTLE_CREATION.first(connection, id);
      if (!row) return false;
      const { account_id: accountId, region, name } = row;
      await appendAudit(connection, {
        ...cause,
        ...about(accountId, id),
        action: 'channel.create',
        details: { region, name },
      });
      return true;
    });
  }

  /** Marks a channel whose creation is not complete as deleted; it stays unsettled. */
  async giveUp(id: string): Promise<void> {
    await GIVE_UP.count(this.database.pool, id);
  }

  /**
   * Marks a channel as deleted and unsettled. Repeating it before the deletion is settled has the same result.
   * @returns undefined when the account has no such channel
   */
  async beginDeletion(accountId: string, id: string, cause: Cause): Promise<ChannelEntryRow | undefined> {
    return transaction(this.database, async (connection) => {
      const row = await BEGIN_DELETION.first(connection, id, accountId);
      if (row?.is_first === true) {
        await appendAudit(connection, { ...cause, ...about(accountId, id), action: 'channel.delete' });
      }
      return row && toEntry(row);
    });
  }

  /** Call when the regional half is deleted, too. The name goes: what stays is that there was a channel. */
  async settleDeletion(id: string): Promise<void> {
    await this.database.prisma.channelEntry.updateMany({
      where: { id, deletedAt: { not: null } },
      data: { unsettledSince: null, name: '' },
    });
  }

  /** Deletions of a region that are not settled, and creations that have not been for longer than `forMs`; the longest first. */
  async leftUnsettled(region: Region, forMs: number, limit: number): Promise<ChannelEntryRow[]> {
    return (await LEFT_UNSETTLED.all(this.database.pool, region, forMs, limit)).map(toEntry);
  }

  async find(accountId: string, id: string): Promise<ChannelEntryRow | undefined> {
    const found = await this.database.prisma.channelEntry.findFirst({ where: { id, accountId, ...IS_VISIBLE } });
    return found ? entryOf(found) : undefined;
  }

  /** Names of channels of an account, by id; deleted ones have none. */
  async namesOf(accountId: string, ids: readonly string[]): Promise<Map<string, string>> {
    const where = { accountId, id: { in: [...ids] }, ...IS_VISIBLE };
    const found = await this.database.prisma.channelEntry.findMany({ where, select: { id: true, name: true } });
    return new Map(found.map(({ id, name }) => [id, name]));
  }

  /** Replaces the display name. */
  async rename(id: string, name: string): Promise<void> {
    await this.database.prisma.channelEntry.updateMany({ where: { id, ...IS_VISIBLE }, data: { name } });
  }

  /**
   * A page of the account's channels, newest first, and how many there are.
   * @param page.search part of the name or id; empty: all
   * @param page.orIn ids that the search finds, too
   */
  async list(
    accountId: string,
    page: { count: number; offset: number; search?: string; orIn?: readonly string[] },
  ): Promise<{ entries: ChannelEntryRow[]; total: number }> {
    const { count, offset, search = '', orIn = [] } = page;
    const contains = { contains: escaped(search), mode: 'insensitive' } as const;
    const found = { OR: [{ name: contains }, { id: contains }, { id: { in: [...orIn] } }] };
    const where = { accountId, ...IS_VISIBLE, ...(search === '' ? {} : found) };
    const { channelEntry } = this.database.prisma;
    const [entries, total] = await Promise.all([
      channelEntry.findMany({
        where,
        orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
        take: count,
        skip: offset,
      }),
      channelEntry.count({ where }),
    ]);
    return { entries: entries.map(entryOf), total };
  }
}

/** Text without the wildcards of LIKE. */
function escaped(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&');
}

/** What the entry of a channel in the audit log is about. */
export function about(accountId: string, id: string) {
  return { accountId, object: { kind: 'channel', id } };
}

async function requireRoom(connection: Queryable, accountId: string, limits: CreationLimits): Promise<void> {
  const { channelsPerAccount, channelsPerHalfHour } = limits;
  const counted = await COUNT_CREATED.first(connection, accountId, channelsPerHalfHour, HALF_HOUR_S);
  if ((counted?.live ?? 0) >= channelsPerAccount) {
    const details = `the account has ${channelsPerAccount} channels, which is the most it may have: delete one first`;
    throw new GatewayError(403, { details });
  }
  const perHalfHour = counted?.per_half_hour ?? channelsPerHalfHour;
  if (perHalfHour === 0 || counted?.free_in_s == null) return;
  const details = `the account has created ${perHalfHour} channels within half an hour, which is the most it may`;
  throw new GatewayError(429, { details, retryAfterS: Math.max(1, Math.ceil(counted.free_in_s)) });
}

export function toEntry({
  account_id: accountId,
  created_at: createdAt,
  ...row
}: RowOf<typeof BEGIN>): ChannelEntryRow {
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
