import type { GlobalDatabase } from '@dormouse/database';
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

interface Row {
  id: string;
  account_id: string;
  region: string;
  name: string;
  created_at: Date;
}

const COLUMNS = 'id, account_id, region, name, created_at';
/** There and settled: what customers see. */
const IS_SEEN = 'deleted_at IS NULL AND unsettled_since IS NULL';
const ID_TRIES = 10;

/**
 * Which account owns a channel and in which region it lives. A row is unsettled while it and its regional counterpart
 * may disagree; see channels.ts.
 */
export class ChannelEntries {
  readonly #pool: GlobalDatabase['pool'];

  constructor(
    database: Pick<GlobalDatabase, 'pool'>,
    private readonly newId: () => string = newChannelId,
  ) {
    this.#pool = database.pool;
  }

  /** How many channels an account has, those included that are just being made. */
  async countOf(accountId: string): Promise<number> {
    const { rows } = await this.#pool.query<{ total: string }>(
      'SELECT count(*) AS total FROM channels WHERE account_id = $1 AND deleted_at IS NULL',
      [accountId],
    );
    return Number(rows[0]?.total ?? 0);
  }

  /** Adds an entry under a new id, unsettled and so unseen. */
  async begin(channel: { accountId: string; region: Region; name: string }): Promise<ChannelEntryRow> {
    for (let tries = 0; tries < ID_TRIES; tries += 1) {
      const { rows } = await this.#pool.query<Row>(
        `INSERT INTO channels (id, account_id, region, name, unsettled_since) VALUES ($1, $2, $3, $4, now())
         ON CONFLICT (id) DO NOTHING RETURNING ${COLUMNS}`,
        [this.newId(), channel.accountId, channel.region, channel.name],
      );
      if (rows[0]) return toEntry(rows[0]);
    }
    throw new Error(`no free channel id in ${ID_TRIES} tries`);
  }

  /** Both halves of a new channel are there: it is seen from now on. False when it was given up meanwhile. */
  async settleCreation(id: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      'UPDATE channels SET unsettled_since = NULL WHERE id = $1 AND deleted_at IS NULL',
      [id],
    );
    return rowCount === 1;
  }

  /** Marks a half-made channel as deleted, still unsettled. */
  async giveUp(id: string): Promise<void> {
    await this.#pool.query(
      'UPDATE channels SET deleted_at = now() WHERE id = $1 AND deleted_at IS NULL AND unsettled_since IS NOT NULL',
      [id],
    );
  }

  /**
   * Marks a channel as deleted and unsettled. Asked again before the deletion is settled it answers the same.
   * @returns undefined when the account has no such channel
   */
  async beginDeletion(accountId: string, id: string): Promise<ChannelEntryRow | undefined> {
    const { rows } = await this.#pool.query<Row>(
      `UPDATE channels SET deleted_at = coalesce(deleted_at, now()), unsettled_since = coalesce(unsettled_since, now())
       WHERE id = $1 AND account_id = $2 AND (deleted_at IS NULL) = (unsettled_since IS NULL)
       RETURNING ${COLUMNS}`,
      [id, accountId],
    );
    return rows[0] && toEntry(rows[0]);
  }

  /** The regional half is gone, too. */
  async settleDeletion(id: string): Promise<void> {
    await this.#pool.query('UPDATE channels SET unsettled_since = NULL WHERE id = $1 AND deleted_at IS NOT NULL', [id]);
  }

  /** Entries of a region that have been unsettled for longer than any request takes, longest first. */
  async leftUnsettled(region: Region, forMs: number, limit: number): Promise<ChannelEntryRow[]> {
    const { rows } = await this.#pool.query<Row>(
      `SELECT ${COLUMNS} FROM channels WHERE region = $1 AND unsettled_since < now() - $2::float8 * interval '1 ms'
       ORDER BY unsettled_since LIMIT $3`,
      [region, forMs, limit],
    );
    return rows.map(toEntry);
  }

  async find(accountId: string, id: string): Promise<ChannelEntryRow | undefined> {
    const { rows } = await this.#pool.query<Row>(
      `SELECT ${COLUMNS} FROM channels WHERE id = $1 AND account_id = $2 AND ${IS_SEEN}`,
      [id, accountId],
    );
    return rows[0] && toEntry(rows[0]);
  }

  /** A page of the account's channels, newest first, and how many there are. */
  async list(
    accountId: string,
    page: { count: number; offset: number },
  ): Promise<{ entries: ChannelEntryRow[]; total: number }> {
    const [listed, counted] = await Promise.all([
      this.#pool.query<Row>(
        `SELECT ${COLUMNS} FROM channels WHERE account_id = $1 AND ${IS_SEEN}
         ORDER BY created_at DESC, id LIMIT $2 OFFSET $3`,
        [accountId, page.count, page.offset],
      ),
      this.#pool.query<{ total: string }>(
        `SELECT count(*) AS total FROM channels WHERE account_id = $1 AND ${IS_SEEN}`,
        [accountId],
      ),
    ]);
    return { entries: listed.rows.map(toEntry), total: Number(counted.rows[0]?.total ?? 0) };
  }
}

function toEntry(row: Row): ChannelEntryRow {
  if (!isRegion(row.region)) throw new Error(`channel ${row.id} lives in an unknown region`);
  return {
    id: row.id,
    accountId: row.account_id,
    region: row.region,
    name: row.name,
    createdAtMs: row.created_at.getTime(),
  };
}
