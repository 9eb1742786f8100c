/**
 * The channel record for the hot path.
 *
 * A token that was rotated or whose channel was deleted is refused everywhere within 2 s: a record is never older than
 * `cacheMs` (1 s by default). With `changes`, a cached record is as old as the last proof that all changes were notified.
 * Without them, and while there is no proof, it is as old as its read. An outage of PostgreSQL does not extend the cache:
 * there is no proof then, every look-up fails, and no request is authorized by an old record.
 */
import {
  defineStatement,
  storableJson,
  transaction,
  type Queryable,
  type Fence,
  type RegionalDatabase,
} from '@dormouse/database';
import { countShards, shardNumbers } from '@dormouse/database/shards';
import { endWebhooks, setWebhooks } from '@dormouse/event-outbox';
import {
  applySettingsPatch,
  changedSettings,
  settingsOf,
  type ChannelSettings,
  type SettingsPatch,
} from '@dormouse/gateway-contract';
import type { ChannelChanges } from './channel-changes.js';
import {
  CHANNEL_COLUMNS,
  CHANNEL_ROW,
  toChannelRecord,
  type ChannelRecord,
  type ChannelRow,
  type SleepOverride,
  type Standing,
} from './channel-record.js';
import { RENAME, SET_RETENTION, SET_SLEEP } from './managed-columns.js';
import { RecentLookups } from './recent-lookups.js';
import { openSettings, sealSettings } from './sealed-settings.js';
import { SealedValueError, type ChannelSeals } from './sealed-values.js';
import { recordSessionState, recordSilentState, type SessionStateChange } from './session-states.js';
import { storeStanding } from './standing.js';
import { SET_SETTINGS } from './settings-reseal.js';
import { LINKED_AWAKE, TO_TIDY } from './shard-channels.js';
import { webhookIds } from './webhook-ids.js';
import { deleteSecrets } from './webhook-secrets.js';

export interface ChannelDirectoryOptions {
  database: Pick<RegionalDatabase, 'pool'>;
  /** How long a record is cached, in milliseconds; 0: not at all, overlapping look-ups included. */
  cacheMs?: number;
  /** Encrypts the secrets in settings. Absent: they are stored in the clear, and sealed settings cannot be read; for specs. */
  seals?: ChannelSeals;
  /** Notifies of changes, so that cached records need not be read again. Of the same database, with the same clock. */
  changes?: ChannelChanges;
  /** Clock in epoch milliseconds. */
  now?: () => number;
}

export interface NewChannel {
  id: string;
  accountId: string;
  name: string;
  /** SHA-256 of the token. */
  tokenHash: Buffer;
  shard: number;
}

export interface SettingsUpdate {
  before: ChannelSettings;
  after: ChannelSettings;
  /** Names of the top-level fields whose value differs. */
  changes: string[];
}

const MAX_REMEMBERED = 20_000;

const BY_TOKEN = defineStatement({
  name: 'channel-by-token',
  text: `SELECT ${CHANNEL_COLUMNS} FROM channels WHERE token_hash = $1`,
  parameters: ['bytea'],
  row: CHANNEL_ROW,
});

const BY_ID = defineStatement({
  name: 'channel-by-id',
  text: `SELECT ${CHANNEL_COLUMNS} FROM channels WHERE id = $1`,
  parameters: ['text'],
  row: CHANNEL_ROW,
});

const LOCK = defineStatement({
  name: 'lock-channel',
  text: `SELECT ${CHANNEL_COLUMNS} FROM channels WHERE id = $1 FOR NO KEY UPDATE`,
  parameters: ['text'],
  row: CHANNEL_ROW,
});

const CREATE = defineStatement({
  name: 'create-channel',
  text: `INSERT INTO channels (id, account_id, name, token_hash, shard) VALUES ($1, $2, $3, $4, $5)
         RETURNING ${CHANNEL_COLUMNS}`,
  parameters: ['text', 'text', 'text', 'bytea', 'int4'],
  row: CHANNEL_ROW,
});

const ROTATE_TOKEN = defineStatement({
  name: 'rotate-token',
  text: `UPDATE channels SET token_hash = CASE WHEN token_version < $3 THEN $2 ELSE token_hash END,
           token_version = greatest(token_version, $3)
         WHERE id = $1 AND deleted_at IS NULL`,
  parameters: ['text', 'bytea', 'int8'],
});

const MARK_DELETED = defineStatement({
  name: 'mark-channel-deleted',
  text: `UPDATE channels SET deleted_at = now(), token_hash = NULL, billing_due = first_linked_at IS NOT NULL
         WHERE id = $1 AND deleted_at IS NULL`,
  parameters: ['text'],
});

const LOCK_SETTINGS = defineStatement({
  name: 'lock-settings',
  text: 'SELECT settings, account_id FROM channels WHERE id = $1 AND deleted_at IS NULL FOR UPDATE',
  parameters: ['text'],
  row: { settings: 'jsonb', account_id: 'text' },
});

const PICK_SHARD = defineStatement({
  name: 'pick-shard',
  text: `SELECT s.shard FROM unnest($1::int[]) AS s(shard)
         LEFT JOIN channels c ON c.shard = s.shard AND c.deleted_at IS NULL
         GROUP BY s.shard ORDER BY count(c.id), s.shard LIMIT 1`,
  parameters: ['int4[]'],
  row: { shard: 'int4' },
});

export class ChannelDirectory {
  private readonly pool: RegionalDatabase['pool'];
  private readonly database: Pick<RegionalDatabase, 'pool'>;
  private readonly seals: ChannelSeals | undefined;
  /** By token hash in hex. */
  private readonly byToken: RecentLookups<ChannelRecord>;
  private readonly byChannel: RecentLookups<ChannelRecord>;

  constructor({ database, cacheMs = 1_000, seals, changes, now = Date.now }: ChannelDirectoryOptions) {
    this.database = database;
    this.seals = seals;
    this.pool = database.pool;
    const options = { cacheMs, maxEntries: MAX_REMEMBERED, now, notifiedUntilMs: () => changes?.notifiedUntilMs };
    this.byToken = new RecentLookups({ ...options, ownerOf: ({ id }: ChannelRecord) => id });
    this.byChannel = new RecentLookups(options);
    changes?.follow({
      changed: (id) => this.forget(id),
      missed: () => {
        this.byToken.forgetAll();
        this.byChannel.forgetAll();
      },
    });
  }

  /** The live channel whose token has this SHA-256, or undefined. At most `cacheMs` old. */
  async byTokenHash(hash: Buffer): Promise<ChannelRecord | undefined> {
    const key = hash.toString('hex');
    return this.byToken.find(key, async () => this.toRecord(await BY_TOKEN.first(this.pool, hash)));
  }

  /** The channel of this id, a deleted one included (`deleted`), or undefined. At most `cacheMs` old. */
  async byId(id: string): Promise<ChannelRecord | undefined> {
    return this.byChannel.find(id, async () => this.toRecord(await BY_ID.first(this.pool, id)));
  }

  /** The channel as a transaction sees it, locked for the rest of it. */
  async lock(connection: Queryable, id: string): Promise<ChannelRecord | undefined> {
    return this.toRecord(await LOCK.first(connection, id));
  }

  /** Removes the channel from the cache and reads it again. */
  async refresh(id: string): Promise<ChannelRecord | undefined> {
    this.forget(id);
    return this.byId(id);
  }

  /** Removes the channel from the cache, under all tokens it was found by. */
  forget(id: string): void {
    this.byChannel.forget(id);
    this.byToken.forgetOwner(id);
  }

  /** Adds a channel with default settings. The id must be new. */
  async create(channel: NewChannel): Promise<ChannelRecord> {
    const { id, accountId, name, tokenHash, shard } = channel;
    const row = await CREATE.first(this.pool, id, accountId, name, tokenHash, shard);
    if (!row) throw new Error(`channel ${id} was not written`);
    return toChannelRecord(row, this.seals);
  }

  /**
   * Stores whether the channel may be billed, with the event that notifies the customer of a change (`service.post`).
   * @param version grows with every change; nothing is written unless it is newer than the stored one
   * @returns the sequence of that event; undefined when there is none: the channel does not exist or was deleted, has this
   * standing already, or has a newer one
   */
  async setStanding(id: string, standing: Standing, version: bigint): Promise<number | undefined> {
    const seq = await storeStanding(this.database, { id, standing, version });
    this.forget(id);
    return seq;
  }

  /**
   * Replaces the token; the old one stops working.
   * @param version grows with every token; the token stays unless it is newer than the stored one
   * @returns false when there is no such live channel
   */
  async rotateToken(id: string, hash: Buffer, version: bigint): Promise<boolean> {
    const count = await ROTATE_TOKEN.count(this.pool, id, hash, version);
    this.forget(id);
    return count === 1;
  }

  /** Marks the channel deleted: its token stops working and its webhooks end. False when it did not exist. */
  async markDeleted(id: string): Promise<boolean> {
    const marked = await transaction(this.database, async (connection) => {
      const count = await MARK_DELETED.count(connection, id);
      await endWebhooks(connection, id);
      await deleteSecrets(connection, id);
      return count === 1;
    });
    this.forget(id);
    return marked;
  }

  /**
   * Applies a settings patch. New webhooks start after the channel's newest event, removed ones lose their position, and
   * the others keep theirs; all in the transaction of the settings.
   * @returns undefined when there is no such live channel
   */
  async updateSettings(id: string, patch: SettingsPatch): Promise<SettingsUpdate | undefined> {
    const update = await transaction(this.database, async (connection) => {
      const row = await LOCK_SETTINGS.first(connection, id);
      if (!row) return undefined;
      const before = settingsOf(openSettings(this.seals, id, row.settings));
      const after = applySettingsPatch(before, patch);
      const stored = storableJson(this.seals ? sealSettings(this.seals, id, after) : after);
      await SET_SETTINGS.count(connection, id, stored, this.seals?.currentId ?? null);
      await setWebhooks(connection, { channelId: id, accountId: row.account_id, webhookIds: webhookIds(after) });
      return { before, after, changes: changedSettings(before, after) };
    });
    this.forget(id);
    return update;
  }

  /** Replaces the channel's differences from the default sleep; null: none. False when there is no such live channel. */
  async setSleep(id: string, override: SleepOverride | null): Promise<boolean> {
    const count = await SET_SLEEP.count(this.pool, id, override && JSON.stringify(override));
    this.forget(id);
    return count === 1;
  }

  /**
   * Sets for how many days the channel stores messages; 0: no content after it was delivered; null: as long as in the region.
   * False when there is no such live channel.
   */
  async setRetention(id: string, days: number | null): Promise<boolean> {
    return (await SET_RETENTION.count(this.pool, id, days)) === 1;
  }

  /** Replaces the display name. False when there is no such live channel. */
  async rename(id: string, name: string): Promise<boolean> {
    const count = await RENAME.count(this.pool, id, name);
    this.forget(id);
    return count === 1;
  }

  /** Number of the region's shards; the lease table has a row for each. */
  async shardCount(): Promise<number> {
    return countShards(this.pool);
  }

  /** The shard with the fewest live channels, the lowest of equals; undefined while the region has none. */
  async pickShard(): Promise<number | undefined> {
    return (await PICK_SHARD.first(this.pool, await shardNumbers(this.pool)))?.shard;
  }

  /** The channels of a shard that are linked to a number, not deleted, and not asleep. */
  async linkedAwakeChannels(shard: number): Promise<ChannelRecord[]> {
    const rows = await LINKED_AWAKE.all(this.pool, shard);
    return rows.flatMap((row) => {
      try {
        return [toChannelRecord(row, this.seals)];
      } catch (error) {
        // Look-ups of that channel fail with the reason; the other channels of the shard must still be found.
        if (error instanceof SealedValueError) return [];
        throw error;
      }
    });
  }

  /**
   * Channels of a shard that a worker left half done when it ended: pairings (not linked), and deleted channels that are
   * still linked.
   */
  async channelsToTidy(shard: number): Promise<{ id: string; linked: boolean }[]> {
    return TO_TIDY.all(this.pool, shard);
  }

  /**
   * Stores the state of a session; only the owner of its shard may.
   * @param connection of the transaction it is part of
   * @returns false when the channel does not exist in the fence's shard
   * @throws {FencedError} when the shard has a newer owner; nothing is written then
   */
  async recordSessionState(
    fence: Fence,
    channelId: string,
    change: SessionStateChange,
    connection: Queryable = this.pool,
  ): Promise<boolean> {
    const stored = await recordSessionState(connection, fence, channelId, change);
    this.forget(channelId);
    return stored;
  }

  /** Stores a state that no customer can see; see `recordSilentState`. */
  async recordSilentState(fence: Fence, channelId: string, change: SessionStateChange): Promise<boolean> {
    const stored = await recordSilentState(this.pool, fence, channelId, change);
    if (stored) this.forget(channelId);
    return stored;
  }

  private toRecord(row: ChannelRow | undefined): ChannelRecord | undefined {
    return row && toChannelRecord(row, this.seals);
  }
}
