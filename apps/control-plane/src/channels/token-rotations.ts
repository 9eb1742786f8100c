/**
 * Tokens on their way to the region of their channel.
 *
 * Guarantees: a rotation that was begun reaches the region, whatever happens to this process or the way there; the newest wins. Of a
 * token only its SHA-256 is stored, and only until the region has it.
 */
import { appendAudit } from '@dormouse/audit-log';
import type { ChannelDirectory } from '@dormouse/channel-directory';
import { defineStatement, transaction, type GlobalDatabase } from '@dormouse/database';
import type { Region } from '@dormouse/gateway-contract';
import type { Cause } from '../accounts/cause.js';
import { about, COLUMNS, ROW, toEntry, type ChannelEntryRow } from './channel-entries.js';

/** A new version is never less than the milliseconds since 1970: a region takes it also when this database was restored. */
const BEGIN = defineStatement({
  name: 'begin-token-rotation',
  scope: 'global',
  text: `UPDATE channels SET pending_token_hash = $3,
           token_version = greatest(token_version + 1, (extract(epoch FROM clock_timestamp()) * 1000)::int8)
         WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL AND unsettled_since IS NULL
         RETURNING ${COLUMNS}, token_version`,
  parameters: ['text', 'text', 'bytea'],
  row: { ...ROW, token_version: 'int8' },
});

const SETTLE = defineStatement({
  name: 'settle-token-rotation',
  scope: 'global',
  text: 'UPDATE channels SET pending_token_hash = NULL WHERE id = $1 AND token_version = $2',
  parameters: ['text', 'int8'],
});

const PENDING = defineStatement({
  name: 'pending-token-rotations',
  scope: 'global',
  text: `SELECT id, pending_token_hash, token_version FROM channels
         WHERE region = $1 AND pending_token_hash IS NOT NULL ORDER BY token_version LIMIT $2`,
  parameters: ['text', 'int8'],
  row: { id: 'text', pending_token_hash: 'bytea?', token_version: 'int8' },
});

/** A token that replaces the present one in the channel's region. */
export interface TokenRotation {
  id: string;
  hash: Buffer;
  /** Grows with every token of the channel. */
  version: bigint;
}

export class TokenRotations {
  constructor(private readonly database: Pick<GlobalDatabase, 'pool'>) {}

  /**
   * Stores that a token replaces the present one, and one that is pending: from now on it reaches the region.
   * @returns undefined when the account has no such channel
   */
  async begin(
    accountId: string,
    id: string,
    hash: Buffer,
    cause: Cause,
  ): Promise<{ entry: ChannelEntryRow; rotation: TokenRotation } | undefined> {
    return transaction(this.database, async (connection) => {
      const row = await BEGIN.first(connection, id, accountId, hash);
      if (!row) return undefined;
      await appendAudit(connection, { ...cause, ...about(accountId, id), action: 'channel.rotate-token' });
      return { entry: toEntry(row), rotation: { id, hash, version: BigInt(row.token_version) } };
    });
  }

  /** Writes the token to the region. Idempotent. @returns false when the channel is deleted there */
  async finish(directory: ChannelDirectory, { id, hash, version }: TokenRotation): Promise<boolean> {
    const isLive = await directory.rotateToken(id, hash, version);
    await SETTLE.count(this.database.pool, id, version);
    return isLive;
  }

  /** Tokens that their region has not got yet, the oldest first. */
  async pending(region: Region, limit: number): Promise<TokenRotation[]> {
    const rows = await PENDING.all(this.database.pool, region, limit);
    return rows.flatMap(({ id, pending_token_hash: hash, token_version: version }) =>
      hash ? [{ id, hash, version: BigInt(version) }] : [],
    );
  }
}
