/**
 * Prepares databases that are given (`npm start` does this by itself): makes them if they do not exist, applies the
 * migrations, gives the apps their rights and passwords, makes the bucket and the first account. Running it again changes nothing but what is new.
 * With `--revoke`, after a deploy, it takes away the rights that no app of this release needs; without, apps of the former go on.
 */
import { createHash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { migrate } from '@dormouse/database';
import { ObjectStorage } from '@dormouse/object-storage';
import { DATABASE_APPS } from '../app-names.js';
import { readPreparationEnvironment } from '../config.js';
import { ensureFirstAccount } from '../launch/first-account.js';
import { grantRights, setLogins } from '../stores/database-accounts.js';
import { ensureDatabase } from '../stores/postgres.js';

const config = readPreparationEnvironment();
const { values } = parseArgs({ options: { revoke: { type: 'boolean', default: false } } });

async function prepare(url: string, scope: 'global' | 'regional'): Promise<void> {
  const server = new URL(url);
  const name = decodeURIComponent(server.pathname.slice(1));
  server.pathname = '/postgres';
  await ensureDatabase(server.toString(), name);
  const applied = await migrate(url, scope, {
    onRetry: (name) => console.log(`${scope}: ${name} waits for a table that a transaction holds; it is tried again`),
  });
  console.log(`${scope}: ${applied.length === 0 ? 'up to date' : `applied ${applied.join(', ')}`}`);
  await grantRights(url, scope, { keep: !values.revoke });
  const apps = DATABASE_APPS[scope].filter((app) => config.DATABASE_PASSWORDS[app] !== undefined);
  await setLogins(url, Object.fromEntries(apps.map((app) => [app, config.DATABASE_PASSWORDS[app]])));
  console.log(`${scope}: rights are in order; passwords of ${apps.length === 0 ? 'no app' : apps.join(', ')} are set`);
}

await prepare(config.GLOBAL_DATABASE_URL, 'global');
await prepare(config.REGIONAL_DATABASE_URL, 'regional');
if (config.objects) {
  const { endpoint, bucket, ...credentials } = config.objects;
  const storage = new ObjectStorage({ endpoint, bucket, credentials });
  console.log(`bucket ${bucket}: ${(await storage.ensureBucket()) ? 'made' : 'is there'}`);
  storage.close();
}
// The same key is the same account, however often this runs.
const accountId = `acc_${createHash('sha256').update(config.ACCOUNT_KEY).digest('hex').slice(0, 24)}`;
await ensureFirstAccount(config.GLOBAL_DATABASE_URL, { accountId, accountKey: config.ACCOUNT_KEY });
console.log('The first account is there.');
