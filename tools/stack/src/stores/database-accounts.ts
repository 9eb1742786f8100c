/**
 * The accounts of apps in PostgreSQL: a role for each app, with the rights that `infra/postgres` gives it and no more.
 * `prepare` and the launcher do the same here, after the migrations of every start, so that rights follow the code.
 *
 * Guarantees: running it again changes nothing that is in order, and connections of running apps go on. Two that run at once wait
 * for each other. The server never receives a password: only what it checks one with (SCRAM-SHA-256), as its log may hold statements.
 * PostgreSQL away, or an account that may not do this: it throws, and no app has been started.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { DatabaseScope } from '@dormouse/database';
import { byApp, DATABASE_APPS, databaseRole, ROOT_FOLDER, type StoreApp } from '../app-names.js';
import { asAccount } from './account-address.js';
import { withConnection } from './postgres.js';

/** Those who change roles of one server wait for each other under this advisory lock of its database `postgres`. */
const ROLES_LOCK = 72_707_370;
/** As PostgreSQL's own default (`scram_iterations`). */
const SCRAM_ITERATIONS = 4_096;
const SALT_BYTES = 16;

/**
 * Brings the rights of all apps in a database in step with `infra/postgres`.
 * @param url as the owner of its tables, who may make roles where they do not exist
 * @param keep leaves rights that nothing here needs any more: apps of the former release may still run
 * @throws PostgreSQL's error; nothing has changed then
 */
export async function grantRights(url: string, scope: DatabaseScope, { keep = false } = {}): Promise<void> {
  const text = readFileSync(`${ROOT_FOLDER}infra/postgres/${scope}-rights.sql`, 'utf8');
  await withConnection(url, async (connection) => {
    if (keep) await connection.query('SET dormouse.keep_rights = on');
    await connection.query(text);
  });
}

/** Rights and passwords of the apps that use the database. @throws as {@link grantRights} and {@link setLogins} */
export async function openToApps(
  url: string,
  scope: DatabaseScope,
  passwords: Readonly<Record<StoreApp, string>>,
): Promise<void> {
  await grantRights(url, scope);
  await setLogins(url, Object.fromEntries(DATABASE_APPS[scope].map((app) => [app, passwords[app]])));
}

/** The address of the database as each app connects to it. */
export function databaseUrls(url: string, passwords: Readonly<Record<StoreApp, string>>): Record<StoreApp, string> {
  return byApp((app) => asAccount(url, databaseRole(app), passwords[app]));
}

/**
 * Lets apps connect to a server with these passwords; former ones stop working for new connections.
 * @param url of any database on the server, as an account that may change the roles
 * @param passwords of the apps; the roles of others stay as they are. ASCII without control characters
 */
export async function setLogins(url: string, passwords: Readonly<Partial<Record<StoreApp, string>>>): Promise<void> {
  const server = new URL(url);
  server.pathname = '/postgres';
  await withConnection(server.href, async (connection) => {
    const changes = Object.entries(passwords).map(
      ([app, password]) =>
        `ALTER ROLE ${connection.escapeIdentifier(databaseRole(app as StoreApp))} LOGIN PASSWORD '${scramVerifier(password)}';`,
    );
    // One simple query is one transaction.
    await connection.query(`SELECT pg_advisory_xact_lock(${ROLES_LOCK}); ${changes.join(' ')}`);
  });
}

/** What PostgreSQL stores of a password (RFC 5802): enough to check it, not to log in with. */
function scramVerifier(password: string): string {
  const salt = randomBytes(SALT_BYTES);
  const salted = pbkdf2Sync(password, salt, SCRAM_ITERATIONS, 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const storedKey = createHash('sha256').update(clientKey).digest('base64');
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  return `SCRAM-SHA-256$${SCRAM_ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
