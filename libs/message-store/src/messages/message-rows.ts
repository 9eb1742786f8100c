import { narrowed } from '@dormouse/database';
import type { Change, Message } from '@dormouse/gateway-contract';
import type { MessageRecord, StoredMessage } from '../records.js';
import { isMessageStatus } from '../statuses/status-ladder.js';

/** A row of `messages` as the driver gives it (int8 as text), with the names joined to it. */
export interface MessageRow {
  id: string;
  chat_id: string;
  from_me: boolean;
  author: string | null;
  author_name: string | null;
  type: string;
  source: string;
  timestamp: string;
  device_id: number | null;
  status: string | null;
  content: Record<string, unknown>;
  chat_name?: string | null;
  contact_name?: string | null;
}

export interface KeyedMessageRow extends MessageRow {
  key_id: string;
  key_remote: string;
  key_participant: string | null;
  proto: Buffer | null;
}

/** The columns of a {@link MessageRow}, of the table or alias given. */
export function messageColumns(table: string): string {
  const names = 'id chat_id from_me author author_name type source timestamp device_id status content';
  return names
    .split(' ')
    .map((name) => `${table}.${name}`)
    .join(', ');
}

/** What {@link messageColumns} are. */
export const MESSAGE_ROW = {
  id: 'text',
  chat_id: 'text',
  from_me: 'bool',
  author: 'text?',
  author_name: 'text?',
  type: 'text',
  source: 'text',
  timestamp: 'int8',
  device_id: 'int4?',
  status: 'text?',
  content: narrowed<Record<string, unknown>>('jsonb'),
} as const;

/** The row of a {@link KeyedMessageRow}. */
export const KEYED_MESSAGE_ROW = {
  ...MESSAGE_ROW,
  key_id: 'text',
  key_remote: 'text',
  key_participant: 'text?',
  proto: 'bytea?',
} as const;

/** The contact a chat id stands for: digits of a person's number, or the `@lid` id itself. */
export function contactIdSql(chatId: string): string {
  return `CASE WHEN ${chatId} LIKE '%@s.whatsapp.net' THEN split_part(${chatId}, '@', 1) ELSE ${chatId} END`;
}

/** Reactions, edits and votes are messages of the list, but not what a chat shows as its last one or counts as unread. */
export function countsInChatSql(messages: string): string {
  return `${messages}.type NOT IN ('action', 'system')`;
}

/** A stored message as customers see it; what is not known is left out. */
export function toMessage(row: MessageRow): Message {
  return shownMessage(wholeMessage(row));
}

/** The message without what is stored beside it: who reacted, which the contract has no field for. */
function shownMessage(message: Message): Message {
  if (!message.reactions) return message;
  return { ...message, reactions: message.reactions.map(({ author: _stored, ...reaction }) => reaction) };
}

/** What of a message changed, as customers see it. */
export function messageDifference(before: Message, after: Message): Change<Message> {
  const changes = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  return { before_update: shownMessage(before), after_update: shownMessage(after), changes };
}

function wholeMessage(row: MessageRow): Message {
  const fromName = row.author_name ?? (row.from_me ? null : row.contact_name);
  return {
    id: row.id,
    from_me: row.from_me,
    type: row.type,
    chat_id: row.chat_id,
    timestamp: Number(row.timestamp),
    source: row.source as Message['source'],
    ...(row.device_id !== null && { device_id: row.device_id }),
    ...(isMessageStatus(row.status) && { status: row.status }),
    ...row.content,
    ...(row.author !== null && { from: row.author }),
    ...(fromName && { from_name: fromName }),
    ...(row.chat_name && { chat_name: row.chat_name }),
  };
}

export function toStoredMessage(row: KeyedMessageRow): StoredMessage {
  return {
    message: wholeMessage(row),
    key: {
      id: row.key_id,
      remote: row.key_remote,
      ...(row.key_participant !== null && { participant: row.key_participant }),
    },
    ...(row.proto !== null && { proto: row.proto }),
  };
}

/** One element of the JSON array that the insert reads; names are those of the columns. */
export interface MessageInsert {
  id: string;
  chat_id: string;
  key_id: string;
  key_remote: string;
  key_participant: string | null;
  /** Every form of the key's JIDs. */
  aliases: string[];
  from_me: boolean;
  author: string | null;
  author_name: string | null;
  type: string;
  source: string;
  timestamp: number;
  device_id: number | null;
  status: string | null;
  content: Record<string, unknown>;
  /** Base64. */
  proto: string | null;
}

export function toInsert({ message, key, keyAliases = [], proto }: MessageRecord): MessageInsert {
  const { id, type, chat_id, from, from_me, from_name, source, timestamp, device_id, status, ...rest } = message;
  delete rest.chat_name;
  return {
    id,
    chat_id,
    key_id: key.id,
    key_remote: key.remote,
    key_participant: key.participant ?? null,
    aliases: [key.remote, ...(key.participant === undefined ? [] : [key.participant]), ...keyAliases],
    from_me,
    author: from ?? null,
    author_name: from_name ?? null,
    type,
    source,
    timestamp,
    device_id: device_id ?? null,
    status: status ?? null,
    content: rest,
    proto: proto ? Buffer.from(proto).toString('base64') : null,
  };
}
