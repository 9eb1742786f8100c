/**
 * The accounts of apps in a Redis of our own: those of `infra/redis/users.conf`, as operators give them to theirs. Redis reads them at
 * its start. A command, a key or a channel that an app has no right to is refused (NOPERM), and nothing is done.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { byApp, ROOT_FOLDER, STORE_APPS, type StoreApp } from '../app-names.js';
import { asAccount } from './account-address.js';

/** Lines of redis.conf, with the passwords' SHA-256 alone. @throws when an app has no account there */
export function redisUsers(passwords: Readonly<Record<StoreApp, string>>): string {
  let text = readFileSync(`${ROOT_FOLDER}infra/redis/users.conf`, 'utf8');
  for (const app of STORE_APPS) {
    if (!text.includes(`%${app}%`)) throw new Error(`infra/redis/users.conf has no account for ${app}`);
    text = text.replace(`%${app}%`, createHash('sha256').update(passwords[app]).digest('hex'));
  }
  return text;
}

/** The address of the server as each app connects to it. */
export function redisUrls(url: string, passwords: Readonly<Record<StoreApp, string>>): Record<StoreApp, string> {
  return byApp((app) => asAccount(url, app, passwords[app]));
}
