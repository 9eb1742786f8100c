/**
 * The rows that hold a live session's credentials and keys, as sealed bytes.
 *
 * Guarantee: a write is one statement under the fence. When its promise resolves, all of it is durable; when the server has
 * refused it, nothing of it is; when the connection broke, either, and it may be repeated. Once the shard has a newer owner,
 * it is refused with `FencedError`. Keys that many channels set at
 * the same time are written in one statement; see `GroupedWrites`.
 */
import {
  defineStatement,
  FENCE_CTE,
  FENCES_CTE,
  FencedError,
  GroupedWrites,
  type Fence,
  type Outcome,
  type RegionalDatabase,
} from '@dormouse/database';
import type { WrappedKey } from '../encryption/data-keys.js';
import { PACKED } from './packed-pre-keys.js';

/** One key to set, or to remove (`sealed: null`). */
export interface KeyWrite {
  readonly type: string;
  readonly id: string;
  readonly sealed: Buffer | null;
}

/** Credentials as they are stored. */
export interface CredsRow {
  readonly sealed: Buffer;
  /** The data key; undefined when it is missing. */
  readonly wrapped: WrappedKey | undefined;
  /** Pre-keys are in a packed row, see `packed-pre-keys.ts`. */
  readonly packed: boolean;
}

const FENCED = 'SELECT count(*)::int AS fenced FROM fence';
const FENCED_ROW = { fenced: 'int4' } as const;

const CREDS = defineStatement({
  name: 'read-creds',
  text: `SELECT c.sealed, k.master_key_id, k.wrapped_key, EXISTS (
           SELECT 1 FROM auth_keys p WHERE p.channel_id = c.channel_id AND p.type = '${PACKED.type}') AS packed
         FROM auth_creds c LEFT JOIN channel_keys k USING (channel_id) WHERE c.channel_id = $1`,
  parameters: ['text'],
  row: { sealed: 'bytea', master_key_id: 'text?', wrapped_key: 'bytea?', packed: 'bool' },
});

const KEYS = defineStatement({
  name: 'read-auth-keys',
  text: 'SELECT id, sealed FROM auth_keys WHERE channel_id = $1 AND type = $2 AND id = ANY($3)',
  parameters: ['text', 'text', 'text[]'],
  row: { id: 'text', sealed: 'bytea' },
});

const ALL_KEYS = defineStatement({
  name: 'read-all-auth-keys',
  text: 'SELECT id, sealed FROM auth_keys WHERE channel_id = $1 AND type = $2',
  parameters: ['text', 'text'],
  row: { id: 'text', sealed: 'bytea' },
});

const DATA_KEY = defineStatement({
  name: 'read-data-key',
  text: 'SELECT master_key_id, wrapped_key FROM channel_keys WHERE channel_id = $1',
  parameters: ['text'],
  row: { master_key_id: 'text', wrapped_key: 'bytea' },
});

const WRITE_CREDS = defineStatement({
  name: 'write-creds',
  text: `
WITH ${FENCE_CTE}, written AS (
  INSERT INTO auth_creds (channel_id, sealed, epoch) SELECT $3, $4, $2::int8 FROM fence
  ON CONFLICT (channel_id) DO UPDATE SET sealed = EXCLUDED.sealed, epoch = EXCLUDED.epoch, updated_at = now()
)
${FENCED}`,
  parameters: ['int4', 'int8', 'text', 'bytea'],
  row: FENCED_ROW,
});

const WRITE_KEYS = defineStatement({
  name: 'write-auth-keys',
  text: `
WITH ${FENCE_CTE}, given AS (
  SELECT * FROM unnest($4::text[], $5::text[], $6::bytea[]) AS given(type, id, sealed)
), written AS (
  INSERT INTO auth_keys (channel_id, type, id, sealed, epoch)
  SELECT $3, type, id, sealed, $2::int8 FROM given, fence WHERE sealed IS NOT NULL
  ON CONFLICT (channel_id, type, id) DO UPDATE SET sealed = EXCLUDED.sealed, epoch = EXCLUDED.epoch
), removed AS (
  DELETE FROM auth_keys k USING given, fence
  WHERE k.channel_id = $3 AND k.type = given.type AND k.id = given.id AND given.sealed IS NULL
)
${FENCED}`,
  parameters: ['int4', 'int8', 'text', 'text[]', 'text[]', 'bytea[]'],
  row: FENCED_ROW,
});

/** Keys of many channels, none of which is to be removed. */
const WRITE_KEYS_OF_MANY = defineStatement({
  name: 'write-auth-keys-of-many',
  text: `
WITH given AS (
  SELECT * FROM unnest($1::int[], $2::int8[], $3::text[], $4::text[], $5::text[], $6::bytea[])
    AS given(shard, epoch, channel_id, type, id, sealed)
), ${FENCES_CTE}, written AS (
  INSERT INTO auth_keys (channel_id, type, id, sealed, epoch)
  SELECT channel_id, type, id, sealed, epoch FROM given JOIN fence USING (shard, epoch)
  ON CONFLICT (channel_id, type, id) DO UPDATE SET sealed = EXCLUDED.sealed, epoch = EXCLUDED.epoch
)
SELECT shard, epoch FROM fence`,
  parameters: ['int4[]', 'int8[]', 'text[]', 'text[]', 'text[]', 'bytea[]'],
  row: { shard: 'int4', epoch: 'int8' },
});

const WIPE = defineStatement({
  name: 'wipe-auth',
  text: `
WITH ${FENCE_CTE},
  creds AS (DELETE FROM auth_creds USING fence WHERE channel_id = $3),
  keys AS (DELETE FROM auth_keys USING fence WHERE channel_id = $3),
  data_key AS (DELETE FROM channel_keys USING fence WHERE channel_id = $3)
${FENCED}`,
  parameters: ['int4', 'int8', 'text'],
  row: FENCED_ROW,
});

const ADD_DATA_KEY = defineStatement({
  name: 'add-data-key',
  text: `
WITH ${FENCE_CTE}, added AS (
  INSERT INTO channel_keys (channel_id, master_key_id, wrapped_key) SELECT $3, $4, $5 FROM fence
  ON CONFLICT (channel_id) DO NOTHING
)
${FENCED}`,
  parameters: ['int4', 'int8', 'text', 'text', 'bytea'],
  row: FENCED_ROW,
});

const REWRAP_DATA_KEY = defineStatement({
  name: 'rewrap-data-key',
  text: `
WITH ${FENCE_CTE}, written AS (
  UPDATE channel_keys SET master_key_id = $4, wrapped_key = $5 FROM fence WHERE channel_id = $3 AND wrapped_key = $6
)
${FENCED}`,
  parameters: ['int4', 'int8', 'text', 'text', 'bytea', 'bytea'],
  row: FENCED_ROW,
});

interface KeysOfChannel {
  readonly fence: Fence;
  readonly channelId: string;
  readonly writes: readonly KeyWrite[];
}

export class AuthRows {
  private readonly pool: RegionalDatabase['pool'];
  private readonly keys = new GroupedWrites<KeysOfChannel, void>({
    alone: (keys) => this.writeKeysAlone(keys),
    together: (keys) => this.writeKeysTogether(keys),
  });

  constructor(database: Pick<RegionalDatabase, 'pool'>) {
    this.pool = database.pool;
  }

  /** The credentials and what belongs to them; undefined when there are none. */
  async readCreds(channelId: string): Promise<CredsRow | undefined> {
    const row = await CREDS.first(this.pool, channelId);
    if (!row) return undefined;
    const { sealed, packed, master_key_id: masterKeyId, wrapped_key: wrappedKey } = row;
    const isWrapped = masterKeyId !== null && wrappedKey !== null;
    return { sealed, packed, wrapped: isWrapped ? { masterKeyId, wrappedKey } : undefined };
  }

  /** Sealed values by id; those that do not exist are left out. */
  async readKeys(channelId: string, type: string, ids: string[]): Promise<Map<string, Buffer>> {
    const rows = await KEYS.all(this.pool, channelId, type, ids);
    return new Map(rows.map(({ id, sealed }) => [id, sealed]));
  }

  /** All sealed values of a type, by id. */
  async readAllKeys(channelId: string, type: string): Promise<Map<string, Buffer>> {
    const rows = await ALL_KEYS.all(this.pool, channelId, type);
    return new Map(rows.map(({ id, sealed }) => [id, sealed]));
  }

  async writeCreds(fence: Fence, channelId: string, sealed: Buffer): Promise<void> {
    await fenced(fence, (...owner) => WRITE_CREDS.first(this.pool, ...owner, channelId, sealed));
  }

  async writeKeys(fence: Fence, channelId: string, writes: readonly KeyWrite[]): Promise<void> {
    await this.keys.write({ fence, channelId, writes });
  }

  /**
   * Removes credentials, keys and the data key. Without the data key, copies of these rows cannot be opened. Snapshots bring
   * their own copy of it, wrapped: `Hibernation.forget` deletes them.
   */
  async wipe(fence: Fence, channelId: string): Promise<void> {
    await fenced(fence, (...owner) => WIPE.first(this.pool, ...owner, channelId));
  }

  async readDataKey(channelId: string): Promise<WrappedKey | undefined> {
    const row = await DATA_KEY.first(this.pool, channelId);
    return row && { masterKeyId: row.master_key_id, wrappedKey: row.wrapped_key };
  }

  /** Stores a new data key unless the channel has one. */
  async addDataKey(fence: Fence, channelId: string, { masterKeyId, wrappedKey }: WrappedKey): Promise<void> {
    await fenced(fence, (...owner) => ADD_DATA_KEY.first(this.pool, ...owner, channelId, masterKeyId, wrappedKey));
  }

  /** Replaces the wrapping of a data key, unless the channel has another key by now. */
  async rewrapDataKey(fence: Fence, channelId: string, before: WrappedKey, after: WrappedKey): Promise<void> {
    await fenced(fence, (...owner) =>
      REWRAP_DATA_KEY.first(this.pool, ...owner, channelId, after.masterKeyId, after.wrappedKey, before.wrappedKey),
    );
  }

  private async writeKeysAlone({ fence, channelId, writes }: KeysOfChannel): Promise<void> {
    const types = writes.map(({ type }) => type);
    const ids = writes.map(({ id }) => id);
    const sealed = writes.map((key) => key.sealed);
    await fenced(fence, (...owner) => WRITE_KEYS.first(this.pool, ...owner, channelId, types, ids, sealed));
  }

  private async writeKeysTogether(given: readonly KeysOfChannel[]): Promise<Outcome<void>[]> {
    const removes = ({ writes }: KeysOfChannel): boolean => writes.some(({ sealed }) => sealed === null);
    const rows = given
      .filter((keys) => !removes(keys))
      .flatMap(({ fence, channelId, writes }) => writes.map((key) => ({ ...key, ...fence, channelId })));
    if (rows.length === 0) return given.map(() => 'left');
    const leases = await WRITE_KEYS_OF_MANY.all(
      this.pool,
      rows.map(({ shard }) => shard),
      rows.map(({ epoch }) => epoch),
      rows.map(({ channelId }) => channelId),
      rows.map(({ type }) => type),
      rows.map(({ id }) => id),
      rows.map(({ sealed }) => sealed),
    );
    const held = new Set(leases.map(({ shard, epoch }) => `${shard} ${epoch}`));
    return given.map((keys): Outcome<void> => {
      if (removes(keys)) return 'left';
      const { fence } = keys;
      return held.has(`${fence.shard} ${fence.epoch}`) ? { done: undefined } : { failed: new FencedError(fence) };
    });
  }
}

/** @throws {FencedError} when the shard has a newer owner; nothing was written then */
async function fenced(
  fence: Fence,
  write: (shard: number, epoch: bigint) => Promise<{ fenced: number } | undefined>,
): Promise<void> {
  if ((await write(fence.shard, fence.epoch))?.fenced !== 1) throw new FencedError(fence);
}
