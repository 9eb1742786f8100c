/**
 * Prepares databases that are given (`npm start` does this by itself): makes them if they do not exist, applies the
 * migrations, makes the first account. Running it again changes nothing but what is new.
 */
import { createHash } from 'node:crypto';
import { migrate } from '@dormouse/database';
import { readPreparationEnvironment } from '../config.js';
import { ensureFirstAccount } from '../launch/first-account.js';
import { ensureDatabase } from '../stores/postgres.js';

const config = readPreparationEnvironment();

async function prepare(url: string, scope: 'global' | 'regional'): Promise<void> {
  const server = new URL(url);
  const name = decodeURIComponent(server.pathname.slice(1));
  server.pathname = '/postgres';
  await ensureDatabase(server.toString(), name);
  const applied = await migrate(url, scope);
  console.log(`${scope}: ${applied.length === 0 ? 'up to date' : `applied ${applied.join(', ')}`}`);
}

await prepare(config.GLOBAL_DATABASE_URL, 'global');
await prepare(config.REGIONAL_DATABASE_URL, 'regional');
// The same key is the same account, however often this runs.
const accountId = `acc_${createHash('sha256').update(config.ACCOUNT_KEY).digest('hex').slice(0, 24)}`;
await ensureFirstAccount(config.GLOBAL_DATABASE_URL, { accountId, accountKey: config.ACCOUNT_KEY });
console.log('The first account is there.');
