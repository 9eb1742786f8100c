import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { listMessagesQuery } from '@dormouse/gateway-contract';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { GroupReader } from '../groups/group-reader.js';
import { MessageReader } from './message-reader.js';

const CHANNEL = 'CH-plans';
const EACH = 4_000;
/** PostgreSQL plans five for their values before it considers one plan for any. */
const EXECUTIONS = 15;
const page = { count: 50, offset: 0 };

describe('pages of a channel with thousands of rows', () => {
  let store: TestStore;
  let database: RegionalDatabase;

  beforeAll(async () => {
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({
      url: store.url,
      applicationName: 'page-plans-spec',
      maxConnections: 1,
      plansOnce: true,
    });
    for (const text of [
      `INSERT INTO contacts (channel_id, id, push_name) SELECT $1, n::text, 'Ada' FROM generate_series(1, $2::int) AS n`,
      `INSERT INTO chats (channel_id, id, type, timestamp)
       SELECT $1, n || '@s.whatsapp.net', 'contact', n FROM generate_series(1, $2::int) AS n`,
      `INSERT INTO groups (channel_id, id, facts, members, member)
       SELECT $1, n || '@g.us', '{"name": "Friends"}', '[]', true FROM generate_series(1, $2::int) AS n`,
      `INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, author, type, source, timestamp, content)
       SELECT $1, n::text, chat, n::text, chat, false, (n % 100)::text, 'text', 'mobile', n, '{"text": {"body": "hello"}}'
       FROM generate_series(1, $2::int) AS n, LATERAL (SELECT n % 100 || '@s.whatsapp.net' AS chat) AS c`,
    ]) {
      await database.pool.query(text, [CHANNEL, EACH]);
    }
    await database.pool.query('ANALYZE');
  });
  afterAll(async () => {
    await database.close();
    await store.drop();
  });

  it.each([
    [
      'messages',
      'list-messages-desc-normal',
      () => new MessageReader({ database }).listMessages(CHANNEL, listMessagesQuery.parse({})),
    ],
    ['chats', 'list-chats', () => new MessageReader({ database }).listChats(CHANNEL, page)],
    ['contacts', 'list-contacts', () => new MessageReader({ database }).listContacts(CHANNEL, page)],
    ['groups', 'list-groups', () => new GroupReader({ database }).listGroups(CHANNEL, page)],
  ])('of %s are planned once per connection', async (_what, name, read) => {
    for (let execution = 0; execution < EXECUTIONS; execution += 1) await read();
    const { rows } = await database.pool.query<{ custom: string; generic: string }>(
      'SELECT custom_plans AS custom, generic_plans AS generic FROM pg_prepared_statements WHERE name = $1',
      [name],
    );
    expect(rows).toEqual([{ custom: '0', generic: `${EXECUTIONS}` }]);
  });
});
