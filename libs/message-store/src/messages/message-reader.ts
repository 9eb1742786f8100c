import { defineStatement, narrowed, type RegionalDatabase } from '@dormouse/database';
import { eventsAfter } from '@dormouse/event-outbox';
import {
  GatewayError,
  type Chat,
  type ChatsList,
  type ContactShape,
  type ContactsList,
  type ListMessagesQuery,
  type Message,
  type MessagesList,
  type PageQuery,
  type StatusEntry,
  type StatusesList,
} from '@dormouse/gateway-contract';
import type { ChatTimer } from '../records.js';
import { CHAT_WITH_LAST_ROW, chatsQuery, toChat } from '../chats/chat-rows.js';
import { CONTACT_COLUMNS, CONTACT_ROW, toContact } from '../people/contact-rows.js';
import { messageListQueries, selectNamed } from './message-query.js';
import { contactIdSql, MESSAGE_ROW, toMessage, type MessageRow } from './message-rows.js';
import { statusEntrySql } from '../statuses/status-entry.js';
import { listOrderSql, rankOf, rankSql } from '../statuses/status-ladder.js';

/** An event of the channel, as it waits for its webhooks. */
export interface StoredEvent {
  seq: number;
  /** Stable UUID: a receiver recognizes a repeated delivery by it. */
  id: string;
  type: string;
  method: string;
  /** The webhook body without `channel_id` and `event`. */
  payload: Record<string, unknown>;
  createdAtMs: number;
}

const CHAT_EXISTS = defineStatement({
  name: 'chat-exists',
  text: 'SELECT id FROM chats WHERE channel_id = $1 AND id = $2',
  parameters: ['text', 'text'],
  row: { id: 'text' },
});

const BY_ID = defineStatement({
  name: 'message-by-id',
  text: selectNamed('SELECT * FROM messages WHERE channel_id = $1 AND id = $2'),
  parameters: ['text', 'text'],
  row: { ...MESSAGE_ROW, chat_name: 'text?', contact_name: 'text?' },
});

/** In a chat of two the viewer of every receipt is the other one. */
const VIEWER = `CASE WHEN step.viewer_id <> '' THEN step.viewer_id
  WHEN ${rankSql('step.status')} >= ${rankOf('delivered')} AND step.chat_id NOT LIKE '%@g.us' THEN ${contactIdSql('step.chat_id')} END`;

const STATUSES = defineStatement({
  name: 'statuses-of-message',
  text: `SELECT step.from_me, CASE WHEN step.status IS NOT NULL THEN ${statusEntrySql('step', VIEWER)} END AS entry
         FROM (
           SELECT m.id, m.chat_id, m.from_me, r.viewer_id, r.status, r.timestamp, r.errors FROM messages m
           LEFT JOIN receipts r ON r.channel_id = m.channel_id AND r.key_id = m.key_id AND m.from_me
           WHERE m.channel_id = $1 AND m.id = $2
         ) step
         ORDER BY ${listOrderSql('step.status')}, step.timestamp, step.viewer_id`,
  parameters: ['text', 'text'],
  row: { from_me: 'bool', entry: narrowed<StatusEntry | null>('json?') },
});

const CHATS = defineStatement({
  name: 'list-chats',
  text: chatsQuery(`SELECT * FROM chats WHERE channel_id = $1 ORDER BY timestamp DESC, id LIMIT $2 OFFSET $3`),
  parameters: ['text', 'int8', 'int8'],
  row: CHAT_WITH_LAST_ROW,
});

const CHAT = defineStatement({
  name: 'chat-by-id',
  text: chatsQuery('SELECT * FROM chats WHERE channel_id = $1 AND id = $2'),
  parameters: ['text', 'text'],
  row: CHAT_WITH_LAST_ROW,
});

const CHAT_TIMER = defineStatement({
  name: 'chat-timer',
  text: 'SELECT ephemeral_s, ephemeral_at FROM chats WHERE channel_id = $1 AND id = $2',
  parameters: ['text', 'text'],
  row: { ephemeral_s: 'int4?', ephemeral_at: 'int8?' },
});

const CONTACTS = defineStatement({
  name: 'list-contacts',
  text: `SELECT ${CONTACT_COLUMNS} FROM contacts WHERE channel_id = $1 ORDER BY id LIMIT $2 OFFSET $3`,
  parameters: ['text', 'int8', 'int8'],
  row: CONTACT_ROW,
});

const CONTACT = defineStatement({
  name: 'contact-by-id',
  text: `SELECT ${CONTACT_COLUMNS} FROM contacts WHERE channel_id = $1 AND id = $2`,
  parameters: ['text', 'text'],
  row: CONTACT_ROW,
});

const LID_SHOWN = defineStatement({
  name: 'lid-shown',
  text: `SELECT EXISTS (SELECT FROM chats WHERE channel_id = $1 AND id = $2)
               OR EXISTS (SELECT FROM contacts WHERE channel_id = $1 AND id = $2)
               OR EXISTS (SELECT FROM messages WHERE channel_id = $1 AND author = $2)
               OR EXISTS (SELECT FROM groups WHERE channel_id = $1 AND position($3 in members::text) > 0)
               OR EXISTS (SELECT FROM receipts WHERE channel_id = $1 AND viewer_id = $2 AND viewer_id LIKE '%@lid')
               OR EXISTS (SELECT FROM messages WHERE channel_id = $1 AND content::text LIKE '%@lid"%'
                 AND position('"' || $2 || '"' in content::text) > 0) AS shown`,
  parameters: ['text', 'text', 'text'],
  row: { shown: 'bool' },
});

const OF_LID = defineStatement({
  name: 'contact-of-lid',
  text: `SELECT id FROM contacts WHERE channel_id = $1 AND lid = $2 AND id <> $3 LIMIT 1`,
  parameters: ['text', 'text', 'text'],
  row: { id: 'text' },
});

/** How many rows of a table the channel has. */
const COUNT_ROWS = defineStatement({
  name: 'count-rows',
  text: `SELECT rows AS total FROM row_counts WHERE channel_id = $1 AND kind = $2 AND chat_id = ''`,
  parameters: ['text', 'text'],
  row: { total: 'int8' },
});

/**
 * Reads what a channel sent and received, as customers see it. Needs no session and no Redis; with PostgreSQL away every
 * method fails with the driver's error.
 */
export class MessageReader {
  private readonly pool: RegionalDatabase['pool'];
  private readonly now: () => number;

  constructor({ database, now = Date.now }: { database: Pick<RegionalDatabase, 'pool'>; now?: () => number }) {
    this.pool = database.pool;
    this.now = now;
  }

  /** Messages of all chats, by time. */
  async listMessages(channelId: string, query: ListMessagesQuery): Promise<MessagesList> {
    return this.messagePage(channelId, query);
  }

  /** Messages of one chat, by time; undefined when the channel does not know the chat. */
  async listChatMessages(
    channelId: string,
    chatId: string,
    query: ListMessagesQuery,
  ): Promise<MessagesList | undefined> {
    const [known, list] = await Promise.all([
      CHAT_EXISTS.first(this.pool, channelId, chatId),
      this.messagePage(channelId, query, chatId),
    ]);
    if (known) return list;
    const moved = await this.movedTo(channelId, chatId);
    return moved === undefined ? undefined : this.listChatMessages(channelId, `${moved}${NUMBER_SERVER}`, query);
  }

  /** One message by its public id. */
  async message(channelId: string, id: string): Promise<Message | undefined> {
    const row = await BY_ID.first(this.pool, channelId, id);
    return row && toMessage(row);
  }

  /**
   * The steps an own message took, first to last; undefined when the channel has no such message.
   * @throws {GatewayError} 403 for a message somebody else wrote
   */
  async statuses(channelId: string, id: string): Promise<StatusesList | undefined> {
    const rows = await STATUSES.all(this.pool, channelId, id);
    const [first] = rows;
    if (!first) return undefined;
    if (!first.from_me) throw new GatewayError(403, { details: "MessageID: not a message of this channel's own" });
    const statuses = rows.flatMap(({ entry }) => (entry === null ? [] : [entry]));
    return { statuses };
  }

  /** Chats, the last active first, each with its last message. */
  async listChats(channelId: string, query: PageQuery): Promise<ChatsList> {
    const [page, counted] = await Promise.all([
      CHATS.all(this.pool, channelId, query.count, query.offset),
      COUNT_ROWS.first(this.pool, channelId, 'chats'),
    ]);
    const nowMs = this.now();
    const chats = page.map((row) => toChat(row, nowMs));
    return { chats, count: query.count, total: Number(counted?.total ?? 0), offset: query.offset };
  }

  /** One chat by its id, or by the LID it had before its number was known. */
  async chat(channelId: string, chatId: string): Promise<Chat | undefined> {
    const row = await CHAT.first(this.pool, channelId, chatId);
    if (row) return toChat(row, this.now());
    const moved = await this.movedTo(channelId, chatId);
    return moved === undefined ? undefined : this.chat(channelId, `${moved}${NUMBER_SERVER}`);
  }

  /** How long messages of a chat of two stay; undefined while that is not known. */
  async chatTimer(channelId: string, chatId: string): Promise<ChatTimer | undefined> {
    const row = await CHAT_TIMER.first(this.pool, channelId, chatId);
    const { ephemeral_s: seconds = null, ephemeral_at: setAtS = null } = row ?? {};
    return seconds === null ? undefined : { seconds, setAtS: Number(setAtS ?? 0) };
  }

  /** Contacts by their ids. */
  async listContacts(channelId: string, query: PageQuery): Promise<ContactsList> {
    const [page, counted] = await Promise.all([
      CONTACTS.all(this.pool, channelId, query.count, query.offset),
      COUNT_ROWS.first(this.pool, channelId, 'contacts'),
    ]);
    const contacts = page.map(toContact);
    return { contacts, count: query.count, total: Number(counted?.total ?? 0), offset: query.offset };
  }

  /** One contact by its id, or by the LID it had before its number was known. */
  async contact(channelId: string, contactId: string): Promise<ContactShape | undefined> {
    const row = await CONTACT.first(this.pool, channelId, contactId);
    if (row) return toContact(row);
    const moved = await this.movedTo(channelId, contactId);
    return moved === undefined ? undefined : this.contact(channelId, moved);
  }

  /** Was this `<digits>@lid` ever shown to the customer: as a chat, a contact, an author, a member, named or a reader? */
  async hasShown(channelId: string, lidId: string): Promise<boolean> {
    const user = lidId.slice(0, -LID_SERVER.length);
    return (await LID_SHOWN.first(this.pool, channelId, lidId, user))?.shown ?? false;
  }

  /** Digits of the number that a `<digits>@lid` turned out to have. */
  private async movedTo(channelId: string, id: string): Promise<string | undefined> {
    if (!id.endsWith(LID_SERVER)) return undefined;
    return (await OF_LID.first(this.pool, channelId, id.slice(0, -LID_SERVER.length), id))?.id;
  }

  /** Events of the channel after a sequence number, in order. */
  async events(channelId: string, afterSeq: number, limit: number): Promise<StoredEvent[]> {
    const rows = await eventsAfter(this.pool, channelId, String(afterSeq), limit);
    return rows.map(({ seq, id, type, method, payload, created_at: createdAt }) => ({
      seq: Number(seq),
      id,
      type,
      method,
      payload,
      createdAtMs: createdAt.getTime(),
    }));
  }

  private async messagePage(channelId: string, query: ListMessagesQuery, chatId?: string): Promise<MessagesList> {
    const queries = messageListQueries(channelId, query, chatId);
    const [page, counted] = await Promise.all([
      this.pool.query<MessageRow>(queries.page),
      this.pool.query<TotalRow>(queries.total),
    ]);
    const messages = page.rows.map(toMessage);
    return {
      messages,
      count: query.count,
      total: Number(counted.rows[0]?.total ?? 0),
      offset: query.offset,
      ...(messages.length > 0 && { first: query.offset, last: query.offset + messages.length - 1 }),
    };
  }
}

const LID_SERVER = '@lid';
const NUMBER_SERVER = '@s.whatsapp.net';

interface TotalRow {
  total: string;
}
