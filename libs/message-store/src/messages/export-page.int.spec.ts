import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import type { ExportKind, ExportRow, Message } from '@dormouse/gateway-contract';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { exportPage } from './export-page.js';

describe('an export of a channel', () => {
  let store: TestStore;
  let database: RegionalDatabase;

  beforeAll(async () => {
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({ url: store.url, applicationName: 'export-spec' });
  });
  afterAll(async () => {
    await database.close();
    await store.drop();
  });

  const query = (text: string, values: unknown[] = []) => database.pool.query(text, values);
  const fill = (channelId: string, messages: number, body = 'text') =>
    query(
      `INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content)
       SELECT $1, 'm-' || n, '1555@s.whatsapp.net', 'k-' || n, 'r', n = 1, 'text', 'mobile', 1700000000 + n / 150,
         jsonb_build_object('text', jsonb_build_object('body', $3::text)) FROM generate_series(1, $2::int) n`,
      [channelId, messages, body],
    );
  const asTheyAre = (messages: readonly Message[]) => Promise.resolve(messages);
  const pagesOf = async (channelId: string, kind: ExportKind, withLinks = asTheyAre): Promise<ExportRow[][]> => {
    const pages: ExportRow[][] = [];
    for (let after: string | undefined = ''; after !== undefined;) {
      const page: Awaited<ReturnType<typeof exportPage>> = await exportPage(
        database,
        { channelId, kind, after },
        withLinks,
      );
      pages.push(page.rows);
      after = page.next;
    }
    return pages;
  };

  it('has every message once, in the order in which they were sent, many of one second included', async () => {
    await fill('c', 450);
    await fill('other', 3);
    const pages = await pagesOf('c', 'messages');
    const rows = pages.flat();
    expect([pages.length, rows.length, new Set(rows.map(({ id }) => id)).size]).toEqual([3, 450, 450]);
    const times = rows.map(({ timestamp }) => Number(timestamp));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(rows[0]).toMatchObject({ chat_id: '1555@s.whatsapp.net', type: 'text', text: { body: 'text' } });
  });

  it('has own messages with the steps of their status, and links from their source', async () => {
    await fill('s', 2);
    await query(
      `INSERT INTO receipts VALUES ('s', 'k-1', '', 'sent', 5), ('s', 'k-1', '77', 'read', 6), ('s', 'k-2', '', 'sent', 5)`,
    );
    const [rows = []] = await pagesOf('s', 'messages', (messages) =>
      Promise.resolve(messages.map((message) => ({ ...message, linked: true }))),
    );
    expect(rows.map(({ id, linked, statuses }) => [id, linked, statuses])).toEqual([
      [
        'm-1',
        true,
        [
          { status: 'sent', timestamp: 5 },
          { status: 'read', viewer_id: '77', timestamp: 6 },
        ],
      ],
      ['m-2', true, undefined],
    ]);
  });

  it('has chats, contacts and groups', async () => {
    await query(
      `INSERT INTO chats (channel_id, id, type) SELECT 'k', 'c' || n, 'contact' FROM generate_series(1, 201) n`,
    );
    await query(`INSERT INTO contacts (channel_id, id, name) VALUES ('k', '77', 'Ada')`);
    await query(
      `INSERT INTO groups (channel_id, id, member, facts, members) VALUES ('k', 'g@g.us', true, '{"name":"G","createdAt":1}', '[]')`,
    );
    expect((await pagesOf('k', 'chats')).map(({ length }) => length)).toEqual([200, 1]);
    expect(await pagesOf('k', 'contacts')).toMatchObject([[{ id: '77', name: 'Ada', saved: true }]]);
    expect(await pagesOf('k', 'groups')).toMatchObject([[{ id: 'g@g.us', name: 'G' }]]);
    expect(await pagesOf('none', 'chats')).toEqual([[]]);
  });

  it('has pages that are bounded in bytes', async () => {
    await fill('big', 7, 'x'.repeat(400_000));
    expect((await pagesOf('big', 'messages')).map(({ length }) => length)).toEqual([2, 2, 2, 1]);
  });
});
