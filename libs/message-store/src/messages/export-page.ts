/**
 * What is stored of a channel, page by page in the order of a key, for an export: messages as lists show them, with the steps of
 * their statuses; chats, contacts and groups. A page is read with one or two queries, whatever was before it, and has a bound in bytes.
 * What is stored while the pages are read may be in them or not; nothing that stays is left out, and nothing is twice in them.
 */
import { defineStatement, narrowed, type RegionalDatabase } from '@dormouse/database';
import type { ExportKind, ExportPage, ExportRow, Message } from '@dormouse/gateway-contract';
import { CHAT_COLUMNS, CHAT_ROW, toChat } from '../chats/chat-rows.js';
import { shownGroup, type GroupFacts, type MemberRecord } from '../groups/group-record.js';
import { CONTACT_COLUMNS, CONTACT_ROW, toContact } from '../people/contact-rows.js';
import { selectNamed } from './message-query.js';
import { MESSAGE_ROW, toMessage } from './message-rows.js';

type Pool = RegionalDatabase['pool'];

/** Rows and bytes of JSON of a page; a page has one row at least. */
const PAGE_ROWS = 200;
const PAGE_BYTES = 1_000_000;

const MESSAGES = defineStatement({
  name: 'export-messages',
  text: `${selectNamed(`SELECT * FROM messages WHERE channel_id = $1 AND (timestamp, id) > ($2::bigint, $3)
           ORDER BY timestamp, id LIMIT $4`)} ORDER BY m.timestamp, m.id`,
  parameters: ['text', 'int8', 'text', 'int8'],
  row: { ...MESSAGE_ROW, chat_name: 'text?', contact_name: 'text?' },
});

const CHATS = defineStatement({
  name: 'export-chats',
  text: `SELECT ${CHAT_COLUMNS}, coalesce(g.facts ->> 'name', chat.name) AS shown_name FROM chats chat
         LEFT JOIN groups g ON g.channel_id = chat.channel_id AND g.id = chat.id
         WHERE chat.channel_id = $1 AND chat.id > $2 ORDER BY chat.id LIMIT $3`,
  parameters: ['text', 'text', 'int8'],
  row: CHAT_ROW,
});

const CONTACTS = defineStatement({
  name: 'export-contacts',
  text: `SELECT ${CONTACT_COLUMNS} FROM contacts WHERE channel_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
  parameters: ['text', 'text', 'int8'],
  row: CONTACT_ROW,
});

const GROUPS = defineStatement({
  name: 'export-groups',
  text: 'SELECT id, facts, members FROM groups WHERE channel_id = $1 AND member AND id > $2 ORDER BY id LIMIT $3',
  parameters: ['text', 'text', 'int8'],
  row: { id: 'text', facts: narrowed<GroupFacts>('jsonb'), members: narrowed<MemberRecord[]>('jsonb') },
});

/** As `GET /statuses/{MessageID}` shows them, but the message and its chat, which the message has. */
const STEPS = defineStatement({
  name: 'export-statuses',
  text: `SELECT m.id, r.viewer_id, r.status, r.timestamp FROM unnest($2::text[]) AS given(id)
         JOIN messages m ON m.channel_id = $1 AND m.id = given.id AND m.from_me
         JOIN receipts r ON r.channel_id = $1 AND r.key_id = m.key_id
         ORDER BY m.id, r.timestamp, r.viewer_id, r.status`,
  parameters: ['text', 'text[]'],
  row: { id: 'text', viewer_id: 'text', status: 'text', timestamp: 'int8' },
});

/** A row of a page, and the place of it. */
interface Placed {
  readonly row: ExportRow;
  readonly place: string;
}

/**
 * The next page of a kind.
 * @param after `next` of the page before; '' for the first
 * @param withLinks gives messages links to their files that work
 */
export async function exportPage(
  { pool }: Pick<RegionalDatabase, 'pool'>,
  { channelId, kind, after }: { channelId: string; kind: ExportKind; after: string },
  withLinks: (messages: readonly Message[]) => Promise<readonly Message[]>,
): Promise<ExportPage> {
  const placed = await READERS[kind](pool, channelId, after);
  const page = within(placed);
  const isAll = placed.length < PAGE_ROWS && page.length === placed.length;
  const last = page.at(-1);
  const rows = kind === 'messages' ? await finished(pool, channelId, page, withLinks) : page.map(({ row }) => row);
  return { rows, ...(isAll || !last ? {} : { next: last.place }) };
}

const READERS: Record<ExportKind, (pool: Pool, channelId: string, after: string) => Promise<Placed[]>> = {
  messages: async (pool, channelId, after) => {
    const [timestamp = '0', ...id] = after.split(' ');
    const rows = await MESSAGES.all(pool, channelId, timestamp === '' ? '0' : timestamp, id.join(' '), PAGE_ROWS);
    return rows.map((row) => ({ row: { ...toMessage(row) }, place: `${row.timestamp} ${row.id}` }));
  },
  chats: async (pool, channelId, after) => {
    const rows = await CHATS.all(pool, channelId, after, PAGE_ROWS);
    return rows.map((row) => ({ row: { ...toChat(row, Date.now()) }, place: row.id }));
  },
  contacts: async (pool, channelId, after) => {
    const rows = await CONTACTS.all(pool, channelId, after, PAGE_ROWS);
    return rows.map((row) => ({ row: { ...toContact(row) }, place: row.id }));
  },
  groups: async (pool, channelId, after) => {
    const rows = await GROUPS.all(pool, channelId, after, PAGE_ROWS);
    return rows.map((row) => ({ row: { ...shownGroup(row) }, place: row.id }));
  },
};

/** The first of them that make no more than a page in bytes. */
function within(placed: readonly Placed[]): Placed[] {
  let bytes = 0;
  const end = placed.findIndex(({ row }, index) => {
    bytes += Buffer.byteLength(JSON.stringify(row));
    return index > 0 && bytes > PAGE_BYTES;
  });
  return placed.slice(0, end === -1 ? placed.length : end);
}

/** Messages with links that work, own ones with the steps of their status. */
async function finished(
  pool: Pool,
  channelId: string,
  page: readonly Placed[],
  withLinks: (messages: readonly Message[]) => Promise<readonly Message[]>,
): Promise<ExportRow[]> {
  const messages = await withLinks(page.map(({ row }) => row as Message));
  const ids = messages.flatMap(({ id, from_me: fromMe }) => (fromMe ? [id] : []));
  const steps = new Map<string, object[]>();
  for (const { id, viewer_id: viewer, status, timestamp } of ids.length === 0
    ? []
    : await STEPS.all(pool, channelId, ids)) {
    const step = { status, ...(viewer !== '' && { viewer_id: viewer }), timestamp: Number(timestamp) };
    steps.set(id, [...(steps.get(id) ?? []), step]);
  }
  return messages.map((message) => {
    const statuses = steps.get(message.id);
    return { ...message, ...(statuses && { statuses }) };
  });
}
