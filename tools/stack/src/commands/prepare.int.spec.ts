import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { byApp, databaseRole, ROOT_FOLDER } from '../app-names.js';
import { asAccount } from '../stores/account-address.js';
import { withConnection } from '../stores/postgres.js';
import { createTestBucket, type TestBucket } from '../testing/test-objects.js';
import { createTestDatabase, type TestStore } from '../testing/test-stores.js';

const PASSWORDS = byApp((app) => `password-of-${app}`);

describe('the command that prepares an installation', () => {
  let databases: Record<'global' | 'regional', TestStore>;
  let objects: TestBucket;

  beforeAll(async () => {
    databases = { global: await createTestDatabase('global'), regional: await createTestDatabase('regional') };
    objects = await createTestBucket();
  });
  afterAll(async () => {
    await Promise.all([databases.global.drop(), databases.regional.drop(), objects.drop()]);
  });

  /** @returns what it printed */
  const prepare = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [`${ROOT_FOLDER}tools/stack/dist/commands/prepare.js`, ...args],
      {
        env: {
          PATH: process.env.PATH,
          GLOBAL_DATABASE_URL: databases.global.url,
          REGIONAL_DATABASE_URL: databases.regional.url,
          DATABASE_PASSWORDS: JSON.stringify(PASSWORDS),
          S3_ENDPOINT: objects.endpoint,
          S3_BUCKET: 'made-by-prepare',
          S3_ACCESS_KEY_ID: objects.credentials.accessKeyId,
          S3_SECRET_ACCESS_KEY: objects.credentials.secretAccessKey,
          ACCOUNT_KEY: 'dmk_of-the-first-account-of-all',
        },
      },
    );
    return stdout + stderr;
  };
  const asEdge = (text: string): Promise<unknown> =>
    withConnection(asAccount(databases.regional.url, databaseRole('edge-api'), PASSWORDS['edge-api']), (connection) =>
      connection.query(text),
    );

  it('opens the stores to the apps, shows no password, and can run again', async () => {
    const first = await prepare();
    expect(first).toContain('bucket made-by-prepare: made');
    await asEdge('SELECT 1 FROM channels');
    await expect(asEdge('SELECT 1 FROM auth_keys')).rejects.toThrow(/permission denied/);
    const again = await prepare();
    expect(again).toContain('bucket made-by-prepare: is there');
    expect(first + again).not.toContain('password-of');
  }, 30_000);

  it('leaves to apps of the former release the rights that they have, until it is run with --revoke', async () => {
    await withConnection(databases.regional.url, (connection) =>
      connection.query('GRANT SELECT ON auth_keys TO dormouse_edge_api'),
    );
    await prepare();
    await asEdge('SELECT 1 FROM auth_keys');
    await prepare('--revoke');
    await expect(asEdge('SELECT 1 FROM auth_keys')).rejects.toThrow(/permission denied/);
  }, 30_000);
});
