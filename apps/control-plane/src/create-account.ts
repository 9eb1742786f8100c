import { openGlobalDatabase } from '@dormouse/database';
import { Accounts } from './accounts/accounts.js';
import { createAccountConfig } from './config.js';

/*
 * `GLOBAL_DATABASE_URL=… node dist/create-account.js <name>`: adds an account with one key and prints
 * {"accountId": …, "accountKey": …}. The key is printed once and cannot be read again.
 */
const name = process.argv.slice(2).join(' ').trim();
if (name === '') {
  process.stderr.write('usage: create-account <name>\n');
  process.exit(2);
}
const { globalDatabaseUrl } = createAccountConfig();
const database = openGlobalDatabase({ url: globalDatabaseUrl, applicationName: 'create-account', maxConnections: 1 });
try {
  const { accountId, accountKey } = await new Accounts(database).create(name);
  process.stdout.write(`${JSON.stringify({ accountId, accountKey })}\n`);
} finally {
  await database.close();
}
