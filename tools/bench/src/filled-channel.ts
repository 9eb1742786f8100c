/** A channel that has been in use for long: written straight into the region's database, a million messages in some minutes. */
import type { Stack } from '@dormouse/stack';
import pg from 'pg';

export const GROUPS = 400;
export const CONTACTS = 20_000;
const MEMBERS_PER_GROUP = 50;
/** Messages of each INSERT. */
const AT_ONCE = 50_000;
const SAMPLES = 2_000;

export interface FilledChannel {
  token: string;
  chatIds: string[];
  groupIds: string[];
  contactIds: string[];
  messageIds: string[];
}

/** Makes a channel and fills it with this number of messages. */
export async function fillChannel(stack: Stack, messages: number): Promise<FilledChannel> {
  const response = await fetch(`${stack.urls.controlPlane}/api/v1/channels`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.accountKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', region: 'sg' }),
  });
  if (response.status !== 201) throw new Error(`channel not created: ${response.status}`);
  const made = (await response.json()) as { channel: { id: string }; token: string };
  const client = new pg.Client({ connectionString: stack.databases.sg });
  await client.connect();
  try {
    return { token: made.token, ...(await fill(client, made.channel.id, messages)) };
  } finally {
    await client.end();
  }
}

async function fill(client: pg.Client, channelId: string, messages: number): Promise<Omit<FilledChannel, 'token'>> {
  const run = (text: string, ...values: unknown[]) => client.query(text, [channelId, ...values]);
  await run(CONTACTS_SQL, CONTACTS);
  await run(GROUPS_SQL, GROUPS, MEMBERS_PER_GROUP);
  for (let from = 0; from < messages; from += AT_ONCE) {
    const to = Math.min(from + AT_ONCE, messages) - 1;
    await run(MESSAGES_SQL, from, to, GROUPS, CONTACTS, messages);
    await run(RECEIPTS_SQL, from, to);
    console.error(`  ${to + 1}`);
  }
  await run(CHATS_SQL);
  await client.query('VACUUM ANALYZE');
  const ids = async (text: string) => {
    const { rows } = await client.query<{ id: string }>(text, [channelId, SAMPLES]);
    return rows.map(({ id }) => id);
  };
  return {
    chatIds: await ids(`SELECT id FROM chats WHERE channel_id = $1 AND type = 'contact' ORDER BY md5(id) LIMIT $2`),
    groupIds: await ids(`SELECT id FROM chats WHERE channel_id = $1 AND type = 'group' ORDER BY md5(id) LIMIT $2`),
    contactIds: await ids(`SELECT id FROM contacts WHERE channel_id = $1 ORDER BY md5(id) LIMIT $2`),
    messageIds: await ids(`SELECT id FROM messages WHERE channel_id = $1 AND from_me ORDER BY timestamp LIMIT $2`),
  };
}

const CONTACTS_SQL = `
INSERT INTO contacts (channel_id, id, name, push_name)
SELECT $1, (15550000000 + n)::text, 'Contact ' || n, 'Person ' || n FROM generate_series(1, $2::int) AS n`;

const GROUPS_SQL = `
INSERT INTO groups (channel_id, id, member, facts, members)
SELECT $1, (120363000000000000 + n)::text || '@g.us', true,
  jsonb_build_object('name', 'Group ' || n, 'createdAt', 1700000000, 'restricted', false, 'announcements', false,
    'membersMayAdd', true, 'approval', false, 'ephemeralS', 0, 'communityAnnounce', false, 'isParent', false,
    'addressing', 'pn'),
  (SELECT jsonb_agg(jsonb_build_object('jid', (15550000000 + m)::text || '@s.whatsapp.net',
    'phone', (15550000000 + m)::text, 'rank', 'member')) FROM generate_series(n, n + $3::int - 1) AS m)
FROM generate_series(1, $2::int) AS n`;

/** One in four is in a group, one in three is the channel's own; the last one is new, one every ten seconds before it. */
const MESSAGES_SQL = `
INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, author, type, source, timestamp, status,
  content)
SELECT $1, 'AAAA' || lpad(n::text, 12, '0') || '-gAAAAAAA', chat, lpad(n::text, 20, '0'), chat, n % 3 = 0,
  CASE WHEN n % 3 = 0 THEN '15559999999' ELSE (15550000000 + 1 + n % $5::int)::text END, 'text',
  CASE WHEN n % 3 = 0 THEN 'api' ELSE 'mobile' END,
  extract(epoch FROM now())::bigint - ($6::int - n) * 10, CASE WHEN n % 3 = 0 THEN 'read' END,
  jsonb_build_object('text', jsonb_build_object('body', 'The text of message number ' || n || ', and a few words'))
FROM generate_series($2::int, $3::int) AS n
CROSS JOIN LATERAL (SELECT CASE WHEN n % 4 = 0 THEN (120363000000000000 + 1 + (n / 4) % $4::int)::text || '@g.us'
  ELSE (15550000000 + 1 + n % $5::int)::text || '@s.whatsapp.net' END AS chat) AS c`;

const RECEIPTS_SQL = `
INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp)
SELECT $1, lpad(n::text, 20, '0'), '', status, extract(epoch FROM now())::bigint
FROM generate_series($2::int, $3::int) AS n, unnest(ARRAY['pending', 'sent', 'delivered', 'read']) AS status
WHERE n % 3 = 0`;

const CHATS_SQL = `
INSERT INTO chats (channel_id, id, type, timestamp, last_message_id)
SELECT $1, chat_id, CASE WHEN chat_id LIKE '%@g.us' THEN 'group' ELSE 'contact' END, max(timestamp), max(id)
FROM messages WHERE channel_id = $1 GROUP BY chat_id`;
