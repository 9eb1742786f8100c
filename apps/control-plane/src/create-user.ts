import { parseArgs } from 'node:util';
import { openGlobalDatabase } from '@dormouse/database';
import { parseInput } from '@dormouse/gateway-contract';
import { signUpBody } from '@dormouse/management-contract';
import { createUserConfig } from './config.js';
import { makeUser } from './users/command-line-users.js';
import { Passwords } from './users/passwords.js';

/*
 * `GLOBAL_DATABASE_URL=… USER_PASSWORD=… node dist/create-user.js --email <address> --name <name> [--account <id>] [--operator]`:
 * makes a user whose address counts as verified, owner of the account, and prints {"userId": …}. A user who has the address
 * gets the password and the rights.
 */
const { values } = parseArgs({
  options: {
    email: { type: 'string' },
    name: { type: 'string' },
    account: { type: 'string' },
    operator: { type: 'boolean', default: false },
  },
});
if (values.email === undefined || values.name === undefined) {
  process.stderr.write(
    'usage: USER_PASSWORD=… create-user --email <address> --name <name> [--account <id>] [--operator]\n',
  );
  process.exit(2);
}
const { globalDatabaseUrl, password } = createUserConfig();
const user = parseInput(signUpBody, { email: values.email, name: values.name, password });
const database = openGlobalDatabase({ url: globalDatabaseUrl, applicationName: 'create-user', maxConnections: 1 });
try {
  const grants = {
    isOperator: values.operator,
    ...(values.account === undefined ? {} : { accountId: values.account }),
  };
  const userId = await makeUser(database, new Passwords(), user, grants);
  process.stdout.write(`${JSON.stringify({ userId })}\n`);
} finally {
  await database.close();
}
