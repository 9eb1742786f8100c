import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { JOB_QUEUES } from '@dormouse/queues';
import { byApp, STORE_APPS, type StoreApp } from '../app-names.js';
import { choosePort } from '../processes/free-port.js';
import { ProcessRegister } from '../processes/process-register.js';
import { grantRights, setLogins } from './database-accounts.js';
import { postgresDataFolder, withConnection } from './postgres.js';
import { redisLines } from './redis-wire.js';
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

  describe('in Redis', () => {
    const run = (app: StoreApp, ...commands: string[]): Promise<string[]> =>
      redisLines(region.accounts[app].redisUrl, commands);

    it('sends commands and counts requests (edge), answers them (worker), has its jobs (control plane, billing)', async () => {
      await run('edge-api', 'SET rate.sends:c1 1', 'LPUSH bull:commands.0:wait 1', 'EVAL "return 1" 0');
      await run('session-worker', 'LPOP bull:commands.0:wait', 'PUBLISH replies.edge-1 done', 'CLIENT UNBLOCK 1');
      await run('session-worker', 'PUBLISH signals.events-ready c1', 'PUBLISH signals.events-to-pull c1');
      await run('control-plane', 'LLEN bull:commands.0:wait', 'PUBLISH signals.events-ready c1');
      for (const queue of Object.values(JOB_QUEUES)) {
        const [app, other] = queue.startsWith('billing-')
          ? (['billing', 'control-plane'] as const)
          : (['control-plane', 'billing'] as const);
        expect(await run(app, `SET bull:${queue}:meta 1`)).toEqual(['+OK']);
        await expect(run(other, `GET bull:${queue}:meta`)).rejects.toThrow(/NOPERM/);
      }
    });

    it.each([
      ...STORE_APPS.flatMap((app) =>
        [
          'FLUSHALL',
          'FLUSHDB',
          'CONFIG GET maxmemory-policy',
          'CONFIG SET maxmemory-policy allkeys-lru',
          'KEYS *',
          'SCAN 0',
          'MONITOR',
          'CLIENT LIST',
          'CLIENT KILL ID 1',
          'ACL LIST',
          'SCRIPT FLUSH',
          'SHUTDOWN NOSAVE',
          'SUBSCRIBE __keyspace@0__:a',
          'GET somebody-elses',
          "EVAL \"return redis.call('GET', 'somebody-elses')\" 0",
        ].map((command) => [app, command] as const),
      ),
      ['edge-api', 'LRANGE bull:mail:wait 0 -1'],
      ['edge-api', 'SUBSCRIBE signals.events-ready'],
      // Replies are the workers': nobody else can forge one.
      ['edge-api', 'PUBLISH replies.edge-2 done'],
      ['control-plane', 'PUBLISH replies.edge-1 done'],
      ['session-worker', 'SUBSCRIBE replies.edge-1'],
      ['session-worker', 'GET rate.sends:c1'],
      ['webhook-dispatcher', 'LRANGE bull:commands.0:wait 0 -1'],
      ['webhook-dispatcher', 'SUBSCRIBE replies.edge-1'],
      ['webhook-dispatcher', 'PUBLISH signals.events-ready c1'],
      ['control-plane', 'GET rate.sends:c1'],
      ['billing', 'LRANGE bull:commands.0:wait 0 -1'],
      ['billing', 'PUBLISH signals.events-ready c1'],
    ] as const)('refuses %s: %s', async (app, command) => {
      await expect(run(app, command)).rejects.toThrow(/NOPERM|can't access at least one of the keys/);
    });

    it("is not opened by another app's password, and nobody comes in without one", async () => {
      const url = new URL(region.accounts.billing.redisUrl);
      url.password = PASSWORDS['edge-api'];
      await expect(redisLines(url.href, ['PING'])).rejects.toThrow(/WRONGPASS/);
      await expect(redisLines(`redis://${url.host}`, ['PING'])).rejects.toThrow(/NOAUTH/);
    });

    it.each(STORE_APPS)('reads the policy of eviction, without which %s starts unchecked', async (app) => {
      expect(await redisLines(region.redisUrl, [`ACL DRYRUN ${app} INFO memory`])).toEqual(['+OK']);
    });
  });

  describe('in the object store', () => {
    const refusal = async (
      app: StoreApp,
      command: (client: S3Client, Bucket: string) => Promise<unknown>,
    ): Promise<string> => {
      const { endpoint, bucket, ...credentials } = region.accounts[app].objects;
      const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials, maxAttempts: 1 });
      try {
        await command(client, bucket);
        return 'none';
      } catch (error) {
        return error instanceof S3ServiceException ? error.name : String(error);
      } finally {
        client.destroy();
      }
    };
    const put = (Key: string) => (client: S3Client, Bucket: string) =>
      client.send(new PutObjectCommand({ Bucket, Key, Body: 'bytes' }));
    const get = (Key: string) => (client: S3Client, Bucket: string) =>
      client.send(new GetObjectCommand({ Bucket, Key }));
    const list = (Prefix?: string) => (client: S3Client, Bucket: string) =>
      client.send(new ListObjectsV2Command({ Bucket, ...(Prefix !== undefined && { Prefix }) }));
    const remove =
      (...keys: string[]) =>
      (client: S3Client, Bucket: string) =>
        client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: keys.map((Key) => ({ Key })) } }));

    it('stores files (edge, worker) and sleeping sessions (worker), and reads them; what is missing is missing', async () => {
      expect(await refusal('edge-api', put('media/c1/a'))).toBe('none');
      expect(await refusal('session-worker', put('media/c1/b'))).toBe('none');
      expect(await refusal('session-worker', put('sessions/c1/1'))).toBe('none');
      for (const app of ['edge-api', 'session-worker', 'webhook-dispatcher', 'control-plane'] as const)
        expect(await refusal(app, get('media/c1/a'))).toBe('none');
      for (const app of ['edge-api', 'session-worker'] as const) {
        expect(await refusal(app, get('media/c1/missing'))).toBe('NoSuchKey');
        expect(await refusal(app, list('media/c1/'))).toBe('none');
      }
      expect(await refusal('session-worker', list('sessions/c1/'))).toBe('none');
      expect(await refusal('edge-api', remove('media/c1/a'))).toBe('none');
      expect(await refusal('session-worker', remove('media/c1/b', 'sessions/c1/1'))).toBe('none');
    });

    it.each([
      ['edge-api', 'reads a sleeping session', get('sessions/c1/1')],
      ['edge-api', 'writes a sleeping session', put('sessions/c1/1')],
      ['edge-api', 'deletes a sleeping session beside a file', remove('media/c1/a', 'sessions/c1/1')],
      ['edge-api', 'lists sleeping sessions', list('sessions/')],
      ['edge-api', 'lists everything', list()],
      ['edge-api', 'writes elsewhere', put('mediation')],
      ['session-worker', 'writes elsewhere', put('backups/1')],
      ['session-worker', 'lists everything', list()],
      ['webhook-dispatcher', 'writes a file', put('media/c1/a')],
      ['webhook-dispatcher', 'lists files', list('media/')],
      ['webhook-dispatcher', 'reads a sleeping session', get('sessions/c1/1')],
      ['control-plane', 'writes a file', put('media/c1/a')],
      ['control-plane', 'deletes a file', remove('media/c1/a')],
      ['control-plane', 'reads a sleeping session', get('sessions/c1/1')],
    ] as const)('refuses that %s %s', async (app, _, command) => {
      expect(await refusal(app, command)).toBe('AccessDenied');
    });

    it('is none for billing, which keeps no objects', async () => {
      expect(await refusal('billing', get('media/c1/a'))).toBe('InvalidAccessKeyId');
    });

    it('does not make buckets, and does not see them', async () => {
      const create = (client: S3Client): Promise<unknown> =>
        client.send(new CreateBucketCommand({ Bucket: 'another' }));
      expect(await refusal('session-worker', create)).toBe('AccessDenied');
      expect(await refusal('session-worker', (client) => client.send(new ListBucketsCommand({})))).toBe('AccessDenied');
    });
  });
});
