/**
 * What a channel's webhooks are signed with (Standard Webhooks: `whsec_` and base64 of the key).
 *
 * Guarantees: a channel has exactly one present secret from its first use on, whoever asks first. A rotation replaces it
 * in one transaction; the one before stays valid for as long as was asked, so that a receiver that knows either of the
 * two can check every call. Secrets stay in the regional database, sealed: customers read them through the management API
 * only.
 * With PostgreSQL away there is no secret, and nothing is posted either.
 */
import { randomBytes } from 'node:crypto';
import { transaction, type RegionalDatabase } from '@dormouse/database';
import { isSealed, type ChannelSeals } from './sealed-values.js';

export interface WebhookSecret {
  secret: string;
  createdAtMs: number;
  /** Epoch milliseconds; undefined for the present one. */
  expiresAtMs: number | undefined;
}

interface SecretRow {
  secret: string;
  created_at: Date;
  expires_at: Date | null;
}

const KEY_BYTES = 32;
/** Signatures a call carries at most; a rotation beyond that ends the oldest secret at once. */
const MOST_VALID = 5;

/** What secrets are sealed for. */
export const SECRET_PURPOSE = 'webhook secret';

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
      const locked = 'SELECT 1 FROM webhook_secrets WHERE channel_id = $1 FOR UPDATE';
      await connection.query({ text: locked, values: [channelId] });
      await connection.query({
        text: `UPDATE webhook_secrets SET expires_at = least(expires_at, now() + $2::float8 * interval '1 ms')
               WHERE channel_id = $1 AND (expires_at IS NULL OR $2::float8 = 0)`,
        values: [channelId, validForMs],
      });
      await connection.query({
        text: 'INSERT INTO webhook_secrets (channel_id, secret, key_id) VALUES ($1, $2, $3)',
        values: [channelId, ...this.mint(channelId)],
      });
      await connection.query({
        text: `DELETE FROM webhook_secrets w USING (
                 SELECT id, expires_at, row_number() OVER (ORDER BY created_at DESC) AS place
                 FROM webhook_secrets WHERE channel_id = $1) ranked
               WHERE w.id = ranked.id AND (place > $2 OR ranked.expires_at <= now())`,
        values: [channelId, MOST_VALID],
      });
    });
    return this.read(channelId);
  }

  private async read(channelId: string): Promise<WebhookSecret[]> {
    const { rows } = await this.database.pool.query<SecretRow>({
      name: 'webhook-secrets',
      text: `SELECT secret, created_at, expires_at FROM webhook_secrets
             WHERE channel_id = $1 AND (expires_at IS NULL OR expires_at > clock_timestamp()) ORDER BY created_at DESC`,
      values: [channelId],
    });
    return rows.map((row) => ({
      secret: openSecret(this.seals, channelId, row.secret),
      createdAtMs: row.created_at.getTime(),
      expiresAtMs: row.expires_at?.getTime(),
    }));
  }

  /** The channel's row is locked, so that of several who ask first one makes the secret. */
  private async addFirst(channelId: string): Promise<void> {
    await transaction(this.database, async (connection) => {
      await connection.query({ text: 'SELECT 1 FROM channels WHERE id = $1 FOR NO KEY UPDATE', values: [channelId] });
      await connection.query({
        text: `INSERT INTO webhook_secrets (channel_id, secret, key_id)
               SELECT $1, $2, $3 WHERE NOT EXISTS (
                 SELECT 1 FROM webhook_secrets WHERE channel_id = $1 AND expires_at IS NULL)`,
        values: [channelId, ...this.mint(channelId)],
      });
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
