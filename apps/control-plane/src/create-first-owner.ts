import { openGlobalDatabase } from '@dormouse/database';
import { createFirstOwnerConfig } from './config.js';
import { addFirstOwnerLink } from './users/command-line-users.js';

/*
 * `GLOBAL_DATABASE_URL=… PUBLIC_URL=… node dist/create-first-owner.js <account id>`: prints {"link": …, "validUntil": …}. The person who opens
 * the link, once and within a day, gives address and password and is owner of the account and operator. {"link": null} when the
 * account has an owner.
 */
const [accountId, ...more] = process.argv.slice(2);
if (accountId === undefined || more.length > 0) {
  process.stderr.write('usage: create-first-owner <account id>\n');
  process.exit(2);
}
const { globalDatabaseUrl, publicUrl } = createFirstOwnerConfig();
const database = openGlobalDatabase({
  url: globalDatabaseUrl,
  applicationName: 'create-first-owner',
  maxConnections: 1,
});
try {
  const added = await addFirstOwnerLink(database, accountId);
  const shown = added && {
    link: `${publicUrl}/first-owner#token=${added.token}`,
    validUntil: added.validUntil.toISOString(),
  };
  process.stdout.write(`${JSON.stringify(shown ?? { link: null })}\n`);
} finally {
  await database.close();
}
