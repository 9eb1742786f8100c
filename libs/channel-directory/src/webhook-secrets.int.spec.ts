import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { ChannelDirectory } from './channel-directory.js';
import { WebhookSecrets } from './webhook-secrets.js';

const DAY_MS = 86_400_000;

describe('WebhookSecrets', () => {
  let store: TestStore;
  let database: RegionalDatabase;
  let secrets: WebhookSecrets;

  beforeAll(async () => {
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({ url: store.url, applicationName: 'secrets-spec' });
    secrets = new WebhookSecrets(database);
    const directory = new ChannelDirectory({ database });
    for (const id of ['A', 'B', 'C', 'D']) {
      await directory.create({ id, accountId: 'a', name: id, tokenHash: Buffer.alloc(32, id), shard: 0 });
    }
  });
  afterAll(async () => {
    await database.close();
    await store.drop();
  });

  it('creates one secret for a channel, also with concurrent first reads', async () => {
    const secretsRead = await Promise.all(Array.from({ length: 5 }, () => secrets.valid('A')));
    expect(new Set(secretsRead.flat().map(({ secret }) => secret)).size).toBe(1);
    expect(secretsRead[0]?.[0].secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });

  it('keeps the one before valid for the given time', async () => {
    const [before] = await secrets.valid('B');
    const [present, old] = await secrets.rotate('B', DAY_MS);
    expect(old?.secret).toBe(before.secret);
    expect((old?.expiresAtMs ?? 0) - Date.now()).toBeGreaterThan(DAY_MS - 60_000);
    expect(present?.expiresAtMs).toBeUndefined();
    expect((await secrets.valid('B')).map(({ secret }) => secret)).toEqual([present?.secret, before.secret]);
  });

  it('ends all others at once on request', async () => {
    await secrets.rotate('C', DAY_MS);
    expect(await secrets.rotate('C', 0)).toHaveLength(1);
  });

  it('never has more than five', async () => {
    for (let round = 0; round < 7; round += 1) await secrets.rotate('D', DAY_MS);
    expect(await secrets.valid('D')).toHaveLength(5);
  });
});
