import { randomBytes } from 'node:crypto';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import type { SettingsPatch } from '@dormouse/gateway-contract';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { ChannelDirectory } from './channel-directory.js';
import { ChannelSeals } from './sealed-values.js';
import { needsReseal, resealChannel } from './settings-reseal.js';
import { WebhookSecrets } from './webhook-secrets.js';

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const former = new ChannelSeals({ currentId: 'former', keys: new Map([['former', OLD]]) });
const during = new ChannelSeals({
  currentId: 'present',
  keys: new Map([
    ['former', OLD],
    ['present', NEW],
  ]),
});
const present = new ChannelSeals({ currentId: 'present', keys: new Map([['present', NEW]]) });

const SECRETS = [
  'hook-user',
  'hook-pass',
  'path-token',
  'query-token',
  'header-value',
  'proxy-pass',
  'mobile-pass',
  'pager-token',
];
const settings: SettingsPatch = {
  auto_read: true,
  proxy: 'socks5://user:proxy-pass@proxy.example:1080',
  mobile_proxy: 'socks5://user:mobile-pass@proxy.example:1080',
  on_call_pager: 'https://pager.example/pager-token',
  webhooks: [
    {
      url: 'https://hook-user:hook-pass@hooks.example/path-token?key=query-token',
      mode: 'body',
      events: [{ type: 'messages' }],
      headers: { Authorization: 'Bearer header-value' },
    },
  ],
};

describe('secrets of a channel', () => {
  let store: TestStore;
  let database: RegionalDatabase;
  const directoryWith = (seals?: ChannelSeals) => new ChannelDirectory({ database, seals, cacheMs: 0 });

  const channel = async (seals?: ChannelSeals): Promise<{ id: string; secret: string }> => {
    const id = `CH-${randomBytes(6).toString('hex')}`;
    const directory = directoryWith(seals);
    await directory.create({ id, accountId: 'a', name: id, tokenHash: randomBytes(32), shard: 0 });
    await directory.updateSettings(id, settings);
    await new WebhookSecrets(database, seals).valid(id);
    const [rotated] = await new WebhookSecrets(database, seals).rotate(id, 60_000);
    return { id, secret: rotated?.secret ?? '' };
  };

  /** Every row of every table of the database, as text. */
  const dump = async (): Promise<string> => {
    const { rows } = await database.pool.query<{ name: string }>(
      `SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    const parts: string[] = [];
    for (const { name } of rows) {
      const content = await database.pool.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      parts.push(...content.rows.map(({ row }) => row));
    }
    return parts.join('\n');
  };
  const found = async (secrets: string[]): Promise<string[]> => {
    const text = await dump();
    return secrets.filter((secret) => text.includes(secret));
  };
  const due = async (keyId: string): Promise<string[]> => {
    const text = `SELECT c.id FROM channels c WHERE ${needsReseal('$1')}`;
    return (await database.pool.query<{ id: string }>(text, [keyId])).rows.map(({ id }) => id);
  };

  beforeAll(async () => {
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({ url: store.url, applicationName: 'sealed-settings-spec' });
  });
  beforeEach(() => database.pool.query('TRUNCATE channels, webhook_secrets, webhook_cursors'));
  afterAll(async () => {
    await database.close();
    await store.drop();
  });

  it('are nowhere in the database in the clear, and are read as they were set', async () => {
    const { id, secret } = await channel(present);
    expect(await found([...SECRETS, secret])).toEqual([]);
    expect((await directoryWith(present).byId(id))?.settings).toMatchObject(settings);
    const valid = await new WebhookSecrets(database, present).valid(id);
    expect([valid[0].secret, valid.length]).toEqual([secret, 2]);
    const update = await directoryWith(present).updateSettings(id, { auto_read: false });
    expect(update?.changes).toEqual(['auto_read']);
    expect(await found([...SECRETS, secret])).toEqual([]);
  });

  it('that were stored before there was a key work, and are sealed at the next change', async () => {
    const { id, secret } = await channel();
    expect(await found([...SECRETS, secret])).toEqual([...SECRETS, secret]);
    expect((await directoryWith(present).byId(id))?.settings).toMatchObject(settings);
    expect((await new WebhookSecrets(database, present).valid(id))[0].secret).toBe(secret);
    await directoryWith(present).updateSettings(id, { auto_read: false });
    expect(await found(SECRETS)).toEqual([]);
  });

  it.each([
    ['stored in the clear', undefined],
    ['sealed under a former key', former],
  ])('that are %s are found and brought under the present one, once', async (_how, seals) => {
    const { id, secret } = await channel(seals);
    await directoryWith().create({ id: 'bare', accountId: 'a', name: 'b', tokenHash: randomBytes(32), shard: 0 });
    expect(await due('present')).toEqual([id]);
    await resealChannel(database, during, id);
    expect(await due('present')).toEqual([]);
    expect(await found([...SECRETS, secret])).toEqual([]);
    expect((await directoryWith(present).byId(id))?.settings).toMatchObject(settings);
    expect((await new WebhookSecrets(database, present).valid(id))[0].secret).toBe(secret);
  });

  it('are refused as a whole when their key is missing, rather than read as if there were none', async () => {
    const { id } = await channel(former);
    await expect(directoryWith(present).byId(id)).rejects.toThrow(/there is no settings key former/);
    await expect(directoryWith(present).updateSettings(id, { auto_read: false })).rejects.toThrow(/no settings key/);
    await expect(directoryWith().byId(id)).rejects.toThrow(/there are no keys here/);
    await expect(resealChannel(database, present, id)).rejects.toThrow(/no settings key former/);
    expect((await directoryWith(former).byId(id))?.settings).toMatchObject(settings);
  });

  it('of one channel do not keep the others of its shard from being found', async () => {
    const { id } = await channel(former);
    const { id: other } = await channel(present);
    await database.pool.query('UPDATE channels SET linked = true');
    expect((await directoryWith(present).linkedAwakeChannels(0)).map((each) => each.id)).toEqual([other]);
    expect((await directoryWith(during).linkedAwakeChannels(0)).map((each) => each.id)).toEqual([id, other].toSorted());
  });
});
