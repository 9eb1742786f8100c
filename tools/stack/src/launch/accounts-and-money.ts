/**
 * What users, mail and payments need beside the apps: commands of the control plane that make users, and the first account's gift of
 * free numbers in the sandbox, so that tests and benchmarks with hundreds of numbers pay nothing.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT_FOLDER } from '../app-names.js';
import { inheritedEnvironment } from '../config.js';
import { withConnection } from '../stores/postgres.js';
import type { BillingPlace } from './app-environment.js';

const run = promisify(execFile);
const COMMAND_WITHIN_MS = 60_000;
const GIFT_NUMBERS = 100_000;

export interface NewUser {
  email: string;
  password: string;
  accountId: string;
}

/** Runs a command of the control plane. @returns what it printed, as JSON @throws with its error output */
async function controlPlaneCommand(
  name: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<unknown> {
  const { stdout } = await run(process.execPath, [`${ROOT_FOLDER}apps/control-plane/dist/${name}.js`, ...args], {
    env: { ...inheritedEnvironment(), ...env },
    timeout: COMMAND_WITHIN_MS,
  });
  return JSON.parse(stdout);
}

/** Makes product, price and portal at the simulated Stripe, as `npm run billing:setup` does. @throws with its output */
export async function setUpSimulatedStripe({ url, stripe }: BillingPlace): Promise<void> {
  await run(process.execPath, [`${ROOT_FOLDER}apps/billing/dist/set-up-stripe.js`], {
    env: {
      ...inheritedEnvironment(),
      STRIPE_SECRET_KEY: stripe.secretKey,
      STRIPE_API_URL: stripe.url,
      STRIPE_WEBHOOK_URL: `${url}/stripe/webhook`,
    },
    timeout: COMMAND_WITHIN_MS,
  });
}

/** Makes sure that the user exists with this password, owns the account and is an operator. */
export async function ensureOwner(globalDatabaseUrl: string, { email, password, accountId }: NewUser): Promise<void> {
  const args = ['--email', email, '--name', 'Owner', '--account', accountId, '--operator'];
  await controlPlaneCommand('create-user', args, { GLOBAL_DATABASE_URL: globalDatabaseUrl, USER_PASSWORD: password });
}

/** A link with which the first owner of the account sets a password; undefined when it has an owner. */
export async function firstOwnerLink(
  globalDatabaseUrl: string,
  publicUrl: string,
  accountId: string,
): Promise<string | undefined> {
  const env = { GLOBAL_DATABASE_URL: globalDatabaseUrl, PUBLIC_URL: publicUrl };
  const { link } = (await controlPlaneCommand('create-first-owner', [accountId], env)) as { link: string | null };
  return link ?? undefined;
}

/** Gives the account more free numbers than any test uses, once. */
export async function ensureGift(globalDatabaseUrl: string, accountId: string): Promise<void> {
  await withConnection(globalDatabaseUrl, async (connection) => {
    await connection.query(
      `INSERT INTO free_number_gifts (id, account_id, numbers, reason, granted_by)
       VALUES ($1, $2, $3, 'the sandbox', 'the launcher') ON CONFLICT (id) DO NOTHING`,
      [`${accountId}-sandbox`, accountId, GIFT_NUMBERS],
    );
  });
}
