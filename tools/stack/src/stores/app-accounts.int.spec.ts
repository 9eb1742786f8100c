import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { byApp, STORE_APPS, type StoreApp } from '../app-names.js';
import { choosePort } from '../processes/free-port.js';
import { ProcessRegister } from '../processes/process-register.js';
import { grantRights, setLogins } from './database-accounts.js';
import { postgresDataFolder, withConnection } from './postgres.js';
import type { RegionStores } from './region-stores.js';
import { startStores, type Stores } from './stores.js';

const PASSWORDS = byApp((app) => `password-of-${app}`);

/** Stores as every start of the launcher has them, with an account for each app; what is tried is tried over its address. */
describe("an app's own account", () => {
  let dir: string;
  let register: ProcessRegister;
  let stores: Stores;
  let region: RegionStores;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'accounts-'));
    register = await ProcessRegister.open(dir);
    stores = await startStores({
      register,
      dataDir: dir,
      given: { test: {} },
      regions: [{ code: 'sg', position: 0, suffix: '' }],
      ownDatabaseServers: false,
      objectKeys: { accessKeyId: 'k', secretAccessKey: 'a secret key' },
      passwords: { postgres: 'password-of-postgres', redis: 'password-of-redis' },
      appPasswords: PASSWORDS,
      fast: true,
      port: () => choosePort(),
      log: () => undefined,
    });
    const found = stores.regions.get('sg');
    if (!found) throw new Error('the region has no stores');
    region = found;
  }, 60_000);

  afterAll(async () => {
    await stores.stop();
    register.close();
    rmSync(postgresDataFolder(join(dir, 'postgres')), { recursive: true, force: true });
    rmSync(dir, { recursive: true, force: true });
  });

  describe('in PostgreSQL', () => {
    const run = (url: string, text: string): Promise<unknown[]> =>
      withConnection(url, async (connection) => (await connection.query<Record<string, unknown>>(text)).rows);
    const urlOf = (app: StoreApp, scope: 'regional' | 'global'): string =>
      scope === 'global' ? stores.globalDatabase.accounts[app] : region.accounts[app].databaseUrl;

    it.each(STORE_APPS)('is its role and reads what it may (%s)', async (app) => {
      expect(
        await run(urlOf(app, 'regional'), 'SELECT current_user AS name, count(*)::int AS channels FROM channels'),
      ).toEqual([{ name: `dormouse_${app.replaceAll('-', '_')}`, channels: 0 }]);
    });

    it.each([
      ['edge-api', 'regional', 'SELECT * FROM auth_keys'],
      ['edge-api', 'regional', 'SELECT * FROM auth_creds'],
      ['webhook-dispatcher', 'regional', "UPDATE messages SET channel_id = 'another'"],
      ['webhook-dispatcher', 'regional', 'DELETE FROM messages'],
      ['control-plane', 'regional', 'SELECT * FROM messages'],
      ['billing', 'regional', 'SELECT * FROM messages'],
      ['billing', 'global', 'SELECT * FROM user_credentials'],
      // Tables, and roles, are those of the account that migrates.
      ...STORE_APPS.flatMap((app) => [
        [app, 'regional', 'CREATE TABLE another (n int)'] as const,
        [app, 'regional', 'CREATE TEMPORARY TABLE another (n int)'] as const,
        [app, 'regional', 'DROP TABLE messages'] as const,
        [app, 'regional', 'ALTER TABLE channels ADD COLUMN another int'] as const,
        [app, 'regional', 'TRUNCATE channels'] as const,
        [app, 'regional', 'ALTER TABLE channels OWNER TO CURRENT_USER'] as const,
        [app, 'regional', 'CREATE ROLE another'] as const,
        [app, 'regional', 'SET ROLE postgres'] as const,
        [app, 'regional', "COPY channels TO PROGRAM 'cat'"] as const,
      ]),
    ] as const)('refuses %s (%s): %s', async (app, scope, text) => {
      await expect(run(urlOf(app, scope), text)).rejects.toThrow(/permission denied|must be owner/);
    });

    it.each(['edge-api', 'session-worker', 'webhook-dispatcher'] as const)(
      'does not open the global database to %s: accounts of customers are not there to be read',
      async (app) => {
        await expect(run(urlOf(app, 'global'), 'SELECT * FROM accounts')).rejects.toThrow(
          /permission denied for database "dormouse_global"/,
        );
      },
    );

    it("is not opened by another app's password", async () => {
      const url = new URL(urlOf('session-worker', 'regional'));
      url.password = PASSWORDS['edge-api'];
      await expect(run(url.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
    });

    it('gets its rights again, and loses what it has beyond them, while connections go on; a deploy takes nothing away', async () => {
      const admin = region.databaseUrl;
      const edge = urlOf('edge-api', 'regional');
      await withConnection(edge, async (connection) => {
        await run(
          admin,
          'GRANT SELECT ON auth_keys TO dormouse_edge_api; REVOKE ALL ON channels FROM dormouse_edge_api',
        );
        await expect(connection.query('SELECT 1 FROM channels')).rejects.toThrow(/permission denied/);
        await grantRights(admin, 'regional', { keep: true });
        await connection.query('SELECT 1 FROM channels, auth_keys');
        await Promise.all([grantRights(admin, 'regional'), grantRights(admin, 'regional')]);
        await connection.query('SELECT 1 FROM channels');
        await expect(connection.query('SELECT 1 FROM auth_keys')).rejects.toThrow(/permission denied/);
      });
    });

    it('has the password that was set last, and many may set passwords at once', async () => {
      const admin = region.databaseUrl;
      const billing = new URL(urlOf('billing', 'regional'));
      const once = { billing: 'another-password!' };
      await Promise.all([setLogins(admin, once), setLogins(stores.globalDatabase.url, once), setLogins(admin, once)]);
      await expect(run(billing.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
      billing.password = 'another-password!';
      expect(await run(billing.href, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    });
  });
});
