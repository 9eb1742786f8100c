import { createHash } from 'node:crypto';
import { withConnection } from '../stores/postgres.js';

/** Everything but the end of the account. */
const SCOPES = [
  'audit:read',
  ...['account', 'billing', 'channels', 'events', 'keys'].flatMap((part) => [`${part}:read`, `${part}:write`]),
];

/**
 * Makes sure that the first account and its key exist, as the control plane keeps them: of the key only its SHA-256.
 * Running it again changes nothing.
 */
export async function ensureFirstAccount(
  globalDatabaseUrl: string,
  account: { accountId: string; accountKey: string },
): Promise<void> {
  const keyHash = createHash('sha256').update(account.accountKey).digest();
  await withConnection(globalDatabaseUrl, async (connection) => {
    await connection.query('INSERT INTO accounts (id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      account.accountId,
      'First account',
    ]);
    await connection.query(
      `INSERT INTO account_keys (id, account_id, key_hash, label, scopes) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT DO NOTHING`,
      [`${account.accountId}-first`, account.accountId, keyHash, 'made by the launcher', SCOPES],
    );
  });
}
