/**
 * What a channel's webhooks are signed with (Standard Webhooks: `whsec_` and base64 of the key).
 *
 * Guarantees: a channel has exactly one present secret from its first use on, also with concurrent first uses. A rotation
 * replaces it in one transaction; the one before stays valid for a time that the caller sets, so that a receiver that knows either of the
 * two can check every call. Secrets stay in the regional database, sealed: customers read them through the management API
 * only.
 * With PostgreSQL away there is no secret, and nothing is posted either.
 */
import { randomBytes } from 'node:crypto';
import { defineStatement, transaction, type Queryable, type RegionalDatabase } from '@dormouse/database';
import { isSealed, type ChannelSeals } from './sealed-values.js';

export interface WebhookSecret {
  secret: string;
  createdAtMs: number;
  /** Epoch milliseconds; undefined for the present one. */
  expiresAtMs: number | undefined;
}

const KEY_BYTES = 32;
/** Signatures a call carries at most; a rotation beyond that ends the oldest secret at once. */
const MOST_VALID = 5;

/** What secrets are sealed for. */
export const SECRET_PURPOSE = 'webhook secret';

/** Part of a statement: the valid secrets of channel `$1`, the present one first. */
export const VALID_SECRETS = `FROM webhook_secrets
  WHERE channel_id = $1 AND (expires_at IS NULL OR expires_at > clock_timestamp()) ORDER BY created_at DESC`;

const READ = defineStatement({
  name: 'webhook-secrets',
  text: `SELECT secret, created_at, expires_at ${VALID_SECRETS}`,
  parameters: ['text'],
  row: { secret: 'text', created_at: 'timestamptz', expires_at: 'timestamptz?' },
});

const LOCK = defineStatement({
  name: 'lock-webhook-secrets',
  text: 'SELECT id FROM webhook_secrets WHERE channel_id = $1 FOR UPDATE',
  parameters: ['text'],
  row: { id: 'int8' },
});

const EXPIRE = defineStatement({
  name: 'expire-webhook-secrets',
  text: `UPDATE webhook_secrets SET expires_at = least(expires_at, now() + $2::float8 * interval '1 ms')
         WHERE channel_id = $1 AND (expires_at IS NULL OR $2::float8 = 0)`,
  parameters: ['text', 'float8'],
});

const ADD = defineStatement({
  name: 'add-webhook-secret',
  text: 'INSERT INTO webhook_secrets (channel_id, secret, key_id) VALUES ($1, $2, $3)',
  parameters: ['text', 'text', 'text?'],
});

const DELETE_ENDED = defineStatement({
  name: 'delete-ended-webhook-secrets',
  text: `DELETE FROM webhook_secrets w USING (
           SELECT id, expires_at, row_number() OVER (ORDER BY created_at DESC) AS place
           FROM webhook_secrets WHERE channel_id = $1) ranked
         WHERE w.id = ranked.id AND (place > $2 OR ranked.expires_at <= now())`,
  parameters: ['text', 'int8'],
});

const DELETE_ALL = defineStatement({
  name: 'delete-webhook-secrets',
  text: 'DELETE FROM webhook_secrets WHERE channel_id = $1',
  parameters: ['text'],
});

/** The channel's row is locked, so that of several first requests one makes the secret. */
const LOCK_CHANNEL = defineStatement({
  name: 'lock-channel-for-secret',
  text: 'SELECT id FROM channels WHERE id = $1 FOR NO KEY UPDATE',
  parameters: ['text'],
  row: { id: 'text' },
});

const ADD_FIRST = defineStatement({
  name: 'add-first-webhook-secret',
  text: `INSERT INTO webhook_secrets (channel_id, secret, key_id)
         SELECT $1, $2, $3 WHERE NOT EXISTS (
           SELECT 1 FROM webhook_secrets WHERE channel_id = $1 AND expires_at IS NULL)`,
  parameters: ['text', 'text', 'text?'],
});

/** Ends the secrets of a channel: in the transaction that deletes it, and once more when what is left of it is purged. */
export async function deleteSecrets(on: Queryable, channelId: string): Promise<void> {
  await DELETE_ALL.count(on, channelId);
}

export class WebhookSecrets {
  /** @param seals absent: secrets are stored as they are, and sealed ones cannot be read; for specs */
  constructor(
    private readonly database: Pick<RegionalDatabase, 'pool'>,
    private readonly seals?: ChannelSeals,
  ) {}

  /** The valid secrets of a channel, the present one first; makes it if there is none. */
  async valid(channelId: string): Promise<[WebhookSecret, ...WebhookSecret[]]> {
    const [present, ...older] = await this.read(channelId);
    if (present) return [present, ...older];
    await this.addFirst(channelId);
    const [made] = await this.read(channelId);
    if (!made) throw new Error(`secret of channel ${channelId} was not written`);
    return [made];
  }

  /**
   * Makes a new present secret.
   * @param validForMs how long the one before stays valid; 0 ends it at once, and with it all that are older
   */
  async rotate(channelId: string, validForMs: number): Promise<WebhookSecret[]> {
    await this.addFirst(channelId);
    await transaction(this.database, async (connection) => {
      await LOCK.count(connection, channelId);
      await EXPIRE.count(connection, channelId, validForMs);
      await ADD.count(connection, channelId, ...this.mint(channelId));
      await DELETE_ENDED.count(connection, channelId, MOST_VALID);
    });
    return this.read(channelId);
  }

  private async read(channelId: string): Promise<WebhookSecret[]> {
    const rows = await READ.all(this.database.pool, channelId);
    return rows.map((row) => ({
      secret: openSecret(this.seals, channelId, row.secret),
      createdAtMs: row.created_at.getTime(),
      expiresAtMs: row.expires_at?.getTime(),
    }));
  }

  private async addFirst(channelId: string): Promise<void> {
    await transaction(this.database, async (connection) => {
      await LOCK_CHANNEL.count(connection, channelId);
      await ADD_FIRST.count(connection, channelId, ...this.mint(channelId));
    });
  }

  /** A new secret as it is stored, and the key it is sealed under. */
  private mint(channelId: string): [string, string | null] {
    const secret = `whsec_${randomBytes(KEY_BYTES).toString('base64')}`;
    return [this.seals?.seal(channelId, SECRET_PURPOSE, secret) ?? secret, this.seals?.currentId ?? null];
  }
}

/** A stored secret in the clear. @throws {SealedValueError} */
export function openSecret(seals: ChannelSeals | undefined, channelId: string, stored: string): string {
  if (seals) return seals.open(channelId, SECRET_PURPOSE, stored);
  if (isSealed(stored)) throw new Error(`the secret of channel ${channelId} is sealed, and there are no keys here`);
  return stored;
}
