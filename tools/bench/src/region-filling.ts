/**
 * Rows of a region as years of use leave them, written straight into its database: copies of a channel that was really
 * linked and used and that sleeps, messages of many channels, and webhooks whose receiver is away.
 */
import type pg from 'pg';

/** Channels, or messages, of one statement. */
const AT_ONCE = 20_000;

/** Not copied: counted by triggers, or named by a key of its own. */
const NOT_COPIED = [
  'events',
  'row_counts',
  'media_objects',
  'media_usage',
  'media_files',
  'idempotency_keys',
  'webhook_attempts',
];

/** Copies made before `before` are there; adds those up to `upTo`. */
export interface Copies {
  /** Id of the channel that is copied; it sleeps. */
  template: string;
  before: number;
  upTo: number;
}

/** Ids of copies are this word and a number, so that they sort by number and are no real channel's. */
const COPY_ID = `'COPY-' || lpad(n::text, 9, '0')`;

/** Adds copies of a sleeping channel, with everything that is stored of it; none is woken by itself within a day. */
export async function copyChannel(client: pg.Client, { template, before, upTo }: Copies): Promise<void> {
  const { rows: tables } = await client.query<{ name: string; columns: string[] }>(
    `SELECT table_name AS name, array_agg(column_name::text) AS columns FROM information_schema.columns
     WHERE table_schema = 'public' AND is_generated = 'NEVER' GROUP BY table_name ORDER BY table_name`,
  );
  const ofChannels = tables.filter(({ name, columns }) => columns.includes('channel_id') && !NOT_COPIED.includes(name));
  const copies = [
    ...tables.filter(({ name }) => name === 'channels').map((table) => copySql(table, 'id', COPIED_CHANNEL)),
    ...ofChannels.map((table) => copySql(table, 'channel_id', copiedRow(table.name))),
  ];
  for (let from = before + 1; from <= upTo; from += AT_ONCE) {
    const to = Math.min(from + AT_ONCE - 1, upTo);
    for (const sql of copies) await client.query(sql, [template, from, to]);
  }
}

/** Columns of a copy that are not as in the template. */
type Changed = Readonly<Record<string, string>>;

const COPIED_CHANNEL: Changed = {
  id: COPY_ID,
  shard: 'n % (SELECT count(*) FROM shard_leases)',
  token_hash: 'sha256(n::text::bytea)',
  wake_at: "now() + interval '1 day' + n * interval '1 s'",
};

function copiedRow(table: string): Changed {
  const isNumbered = ['webhook_secrets', 'chat_removals'].includes(table);
  return { channel_id: COPY_ID, ...(isNumbered && { id: `nextval(pg_get_serial_sequence('${table}', 'id'))` }) };
}

function copySql(
  { name, columns }: { name: string; columns: readonly string[] },
  key: string,
  changed: Changed,
): string {
  const values = columns.map((column) => changed[column] ?? `t."${column}"`);
  return `INSERT INTO "${name}" (${columns.map((column) => `"${column}"`).join(', ')})
    SELECT ${values.join(', ')} FROM "${name}" t, generate_series($2::int, $3::int) AS n WHERE t."${key}" = $1`;
}

/**
 * Adds messages numbered `before + 1` to `upTo`, spread over channels in turn, each with fifty chats; the last of a
 * channel is new, and those before it ten minutes apart. One in three is the channel's own and has four receipts.
 */
export async function addMessages(
  client: pg.Client,
  { channelIds, before, upTo }: { channelIds: readonly string[]; before: number; upTo: number },
): Promise<void> {
  for (let from = before + 1; from <= upTo; from += AT_ONCE) {
    const to = Math.min(from + AT_ONCE - 1, upTo);
    await client.query(MESSAGES_SQL, [channelIds, from, to, upTo]);
    await client.query(RECEIPTS_SQL, [channelIds, from, to]);
  }
}

const MESSAGES_SQL = `
INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, author, type, source, timestamp, status,
  content)
SELECT ($1::text[])[1 + n % cardinality($1::text[])], 'AAAA' || lpad(n::text, 12, '0') || '-gAAAAAAA', chat,
  lpad(n::text, 20, '0'), chat, n % 3 = 0, CASE WHEN n % 3 = 0 THEN '15559999999' ELSE split_part(chat, '@', 1) END,
  'text', CASE WHEN n % 3 = 0 THEN 'api' ELSE 'mobile' END,
  extract(epoch FROM now())::bigint - (($4::int - n) / cardinality($1::text[])) * 600,
  CASE WHEN n % 3 = 0 THEN 'read' END,
  jsonb_build_object('text', jsonb_build_object('body', 'The text of message number ' || n || ', and a few words'))
FROM generate_series($2::int, $3::int) AS n
CROSS JOIN LATERAL (SELECT (15550000000 + (n / cardinality($1::text[])) % 50)::text || '@s.whatsapp.net' AS chat) AS c`;

const RECEIPTS_SQL = `
INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp)
SELECT ($1::text[])[1 + n % cardinality($1::text[])], lpad(n::text, 20, '0'), '', status,
  extract(epoch FROM now())::bigint
FROM generate_series($2::int, $3::int) AS n, unnest(ARRAY['pending', 'sent', 'delivered', 'read']) AS status
WHERE n % 3 = 0`;

/** Adds events that wait for a channel's webhooks. */
export async function addBacklog(client: pg.Client, channelIds: readonly string[], events: number): Promise<void> {
  await client.query('BEGIN');
  await client.query(
    `INSERT INTO event_sequences (channel_id, last_seq) SELECT id, 0 FROM unnest($1::text[]) AS id
     ON CONFLICT (channel_id) DO NOTHING`,
    [channelIds],
  );
  await client.query(
    `INSERT INTO events (channel_id, seq, id, type, method, payload)
     SELECT s.channel_id, s.last_seq + n, gen_random_uuid(), 'messages', 'post',
            jsonb_build_object('messages', jsonb_build_array(jsonb_build_object('id', 'waiting ' || n)))
     FROM event_sequences s, generate_series(1, $2::int) AS n WHERE s.channel_id = ANY ($1)`,
    [channelIds, events],
  );
  await client.query('UPDATE event_sequences SET last_seq = last_seq + $2 WHERE channel_id = ANY ($1)', [
    channelIds,
    events,
  ]);
  await client.query('COMMIT');
}
