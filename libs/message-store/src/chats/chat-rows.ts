import { narrowed } from '@dormouse/database';
import type { Chat } from '@dormouse/gateway-contract';
import { selectNamed } from '../messages/message-query.js';
import { contactIdSql, toMessage, type MessageRow } from '../messages/message-rows.js';

/** A row of `chats` with its name and picture resolved and its last message joined as JSON. */
export interface ChatRow {
  id: string;
  type: string;
  shown_name: string | null;
  timestamp: string;
  unread: number;
  pinned: boolean;
  archived: boolean;
  mute_until_ms: string;
  /** Absent, as the pictures of the group or contact are, in what changes of a chat. */
  last_message?: MessageRow | null;
  picture?: string | null;
  picture_full?: string | null;
}

/** The columns of a {@link ChatRow} that are the chat's own, of the alias `chat`. */
export const CHAT_COLUMNS =
  'chat.id, chat.type, chat.timestamp, chat.unread, chat.pinned, chat.archived, chat.mute_until_ms';

export const CHAT_ROW = {
  id: 'text',
  type: 'text',
  timestamp: 'int8',
  unread: 'int4',
  pinned: 'bool',
  archived: 'bool',
  mute_until_ms: 'int8',
  shown_name: 'text?',
} as const;

/** The row of a {@link chatsQuery}. */
export const CHAT_WITH_LAST_ROW = {
  ...CHAT_ROW,
  last_message: narrowed<MessageRow | null>('jsonb?'),
  picture: 'text?',
  picture_full: 'text?',
} as const;

/** Chats of `source` (a SELECT of whole rows), the last active first, with name and last message. */
export function chatsQuery(source: string): string {
  const last = selectNamed('SELECT * FROM messages WHERE channel_id = chat.channel_id AND id = chat.last_message_id');
  return `SELECT ${CHAT_COLUMNS},
      coalesce(g.facts ->> 'name', chat.name, k.name, k.push_name) AS shown_name, to_jsonb(l) AS last_message,
      coalesce(g.picture, k.picture) AS picture, coalesce(g.picture_full, k.picture_full) AS picture_full
    FROM (${source}) chat
    LEFT JOIN groups g ON g.channel_id = chat.channel_id AND g.id = chat.id
    LEFT JOIN contacts k ON k.channel_id = chat.channel_id AND k.id = ${contactIdSql('chat.id')}
    LEFT JOIN LATERAL (${last}) l ON true
    ORDER BY chat.timestamp DESC, chat.id`;
}

const CHAT_TYPES = ['group', 'contact', 'broadcast', 'newsletter'] as const;

/** A stored chat as customers see it. */
export function toChat(row: ChatRow, nowMs: number): Chat {
  const muteUntil = Number(row.mute_until_ms);
  return {
    id: row.id,
    ...(row.shown_name !== null && { name: row.shown_name }),
    type: CHAT_TYPES.find((type) => type === row.type) ?? 'unknown',
    timestamp: Number(row.timestamp),
    pin: row.pinned,
    mute: muteUntil > nowMs,
    mute_until: muteUntil,
    archive: row.archived,
    unread: row.unread,
    ...(row.picture && { chat_pic: row.picture }),
    ...(row.picture_full && { chat_pic_full: row.picture_full }),
    ...(row.last_message && { last_message: toMessage(row.last_message) }),
  };
}
