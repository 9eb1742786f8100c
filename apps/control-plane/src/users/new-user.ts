import { defineStatement, type Queryable } from '@dormouse/database';
import { randomBytes } from 'node:crypto';

const ADD_USER = defineStatement({
  name: 'add-user',
  scope: 'global',
  text: `INSERT INTO users (id, name, email, email_verified) VALUES ($1, $2, $3, true)
         ON CONFLICT (email) DO NOTHING`,
  parameters: ['text', 'text', 'text'],
});

const ADD_PASSWORD = defineStatement({
  name: 'add-password',
  scope: 'global',
  text: `INSERT INTO user_credentials (id, user_id, provider_id, account_id, password)
         VALUES ($1, $2, 'credential', $2, $3)`,
  parameters: ['text', 'text', 'text'],
});

/**
 * Adds a user whose address is proved, with a password.
 * @param user `email` in lower case; `passwordHash` as `Passwords` computes it
 * @returns their id; undefined when a user has the address already
 */
export async function addUser(
  connection: Queryable,
  user: { name: string; email: string; passwordHash: string },
): Promise<string | undefined> {
  const id = randomBytes(24).toString('base64url');
  if ((await ADD_USER.count(connection, id, user.name, user.email)) === 0) return undefined;
  await ADD_PASSWORD.count(connection, randomBytes(24).toString('base64url'), id, user.passwordHash);
  return id;
}
