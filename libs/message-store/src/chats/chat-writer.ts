import { defineStatement, storableJson, type Fence, type RegionalDatabase } from '@dormouse/database';
import type { ChannelEvent } from '@dormouse/gateway-contract';
import { channelTransaction, type ChannelTransaction } from '../events/channel-transaction.js';
import { beginRemoval, finishRemovals, type EndFiles } from './chat-removals.js';
import { chatEvents, chatsById, contactEvents, contactsById, writeChats, writeContacts } from './chat-writes.js';
import type { Written } from '../messages/message-writer.js';
import { beginNumber } from '../people/number-change.js';
import { countsInChatSql } from '../messages/message-rows.js';
import { mergePerson } from '../people/person-merge.js';
import type { ChatRecord, ContactRecord, PersonPair } from '../records.js';
import { storableChat, storableContact, storableId, storableMoment, storablePair } from '../storable-records.js';

/** How the network names a message, and when it was sent (epoch seconds). */
export interface KeyedMoment {
  id: string;
  remote: string;
  participant?: string;
  fromMe: boolean;
  timestamp: number;
}

/** What is younger than the clearing stays, and so does what is unread of it. `$3`: the moment, null for all. */
const CLEAR_CHAT = defineStatement({
  name: 'clear-chat',
  text: `
WITH left_over AS (
  SELECT id, type, from_me, timestamp FROM messages
  WHERE channel_id = $1 AND chat_id = $2 AND timestamp > $3::bigint
)
UPDATE chats SET
  last_message_id = (SELECT id FROM left_over WHERE type <> 'action' ORDER BY timestamp DESC, id DESC LIMIT 1),
  unread = least(unread, (SELECT count(*)::int FROM left_over WHERE NOT from_me AND ${countsInChatSql('left_over')}))
WHERE channel_id = $1 AND id = $2`,
  parameters: ['text', 'text', 'int8?'],
});

const NEWS_OF_CONTACTS = defineStatement({
  name: 'news-of-contacts',
  text: `
SELECT c.at FROM jsonb_array_elements($2::jsonb) WITH ORDINALITY AS e(fields, at)
CROSS JOIN LATERAL (SELECT e.at, r.* FROM jsonb_to_record(e.fields) AS r(id text, name text, "pushName" text, lid text,
  business boolean, about text, picture text, "pictureFull" text)) c
LEFT JOIN contacts known ON known.channel_id = $1 AND known.id = c.id
WHERE known.id IS NULL
  OR c.name IS DISTINCT FROM known.name AND c.name IS NOT NULL
  OR c."pushName" IS DISTINCT FROM known.push_name AND c."pushName" IS NOT NULL
  OR c.lid IS DISTINCT FROM known.lid AND c.lid IS NOT NULL
  OR c.business AND NOT known.business
  OR c.about IS DISTINCT FROM known.about AND c.about IS NOT NULL
  OR c.picture IS DISTINCT FROM known.picture AND c.picture IS NOT NULL
  OR c."pictureFull" IS DISTINCT FROM known.picture_full AND c."pictureFull" IS NOT NULL`,
  parameters: ['text', 'jsonb'],
  row: { at: 'int8' },
});

const STRANGERS = defineStatement({
  name: 'strangers',
  text: `SELECT DISTINCT p.lid, p.phone FROM jsonb_to_recordset($2::jsonb) AS p(lid text, phone text)
             WHERE EXISTS (SELECT FROM chats WHERE channel_id = $1 AND id = p.lid || '@lid')
               OR EXISTS (SELECT FROM contacts WHERE channel_id = $1 AND id = p.lid || '@lid')
               OR EXISTS (SELECT FROM messages WHERE channel_id = $1 AND author = p.lid || '@lid')
               OR NOT EXISTS (SELECT FROM contacts WHERE channel_id = $1 AND id = p.phone AND lid = p.lid)`,
  parameters: ['text', 'jsonb'],
  row: { lid: 'text', phone: 'text' },
});

const DELETE_CHAT = defineStatement({
  name: 'delete-chat',
  text: 'DELETE FROM chats WHERE channel_id = $1 AND id = $2',
  parameters: ['text', 'text'],
});

const FORGET_STATES = defineStatement({
  name: 'forget-chat-states',
  text: `UPDATE chats SET pinned = false, archived = false, mute_until_ms = 0
         WHERE channel_id = $1 AND (pinned OR archived OR mute_until_ms <> 0)`,
  parameters: ['text'],
});

const YOUNGER = defineStatement({
  name: 'younger-than',
  text: 'SELECT EXISTS (SELECT FROM messages WHERE channel_id = $1 AND chat_id = $2 AND timestamp > $3) AS younger',
  parameters: ['text', 'text', 'int8'],
  row: { younger: 'bool' },
});

const lastMoments = (name: string, which: string) =>
  defineStatement({
    name,
    text: `SELECT key_id, key_remote, key_participant, from_me, timestamp FROM messages
           WHERE channel_id = $1 AND chat_id = $2 AND ${countsInChatSql('messages')} ${which}
           ORDER BY timestamp DESC, id DESC LIMIT $3`,
    parameters: ['text', 'text', 'int8'],
    row: { key_id: 'text', key_remote: 'text', key_participant: 'text?', from_me: 'bool', timestamp: 'int8' },
  });

const LAST_MOMENTS = lastMoments('last-moments-all', '');
const LAST_OF_OTHERS = lastMoments('last-moments-others', 'AND NOT from_me');

/**
 * Writes what becomes known of a channel's chats and contacts. Every method is fenced and appends events of what it changed, like
 * those of `MessageWriter`; a method that finds nothing new writes nothing.
 */
export class ChatWriter {
  private readonly database: Pick<RegionalDatabase, 'pool'>;
  private readonly endFiles: EndFiles | undefined;

  /** @param options.endFiles ends the files of messages that are removed; absent: they stay as long as files do */
  constructor({ database, endFiles }: { database: Pick<RegionalDatabase, 'pool'>; endFiles?: EndFiles }) {
    this.database = database;
    this.endFiles = endFiles;
  }

  /** Names and states of chats: `chats.post` for a new one, `chats.patch` for a change. */
  async recordChats(fence: Fence, channelId: string, chats: readonly ChatRecord[]): Promise<Written> {
    if (chats.length === 0) return { seqs: [] };
    const clean = chats.map(storableChat);
    const ids = [...new Set(clean.map(({ id }) => id))];
    return this.changing(fence, channelId, async (transaction) => {
      const before = await chatsById(transaction, ids);
      await writeChats(transaction, clean);
      return chatEvents(before, await chatsById(transaction, ids));
    });
  }

  /**
   * Names and more of contacts: `contacts.post` for a new or renamed one, `contacts.patch` for a change. Names come with
   * every message, so it is looked up first whether there is anything to write.
   */
  async recordContacts(fence: Fence, channelId: string, contacts: readonly ContactRecord[]): Promise<Written> {
    const clean = contacts.map(storableContact);
    const news = await this.newsIn(channelId, clean);
    if (news.length === 0) return { seqs: [] };
    const ids = [...new Set(news.map(({ id }) => id))];
    return this.changing(fence, channelId, async (transaction) => {
      const before = await contactsById(transaction, ids);
      await writeContacts(transaction, news);
      return contactEvents(before, await contactsById(transaction, ids));
    });
  }

  /**
   * LIDs whose numbers became known. What was stored under the LID moves to the number: messages, chat, contact. The
   * contact remembers the LID, so that it still leads there. A chat that moved makes a `chats.patch` event.
   */
  async mergePeople(fence: Fence, channelId: string, pairs: readonly PersonPair[]): Promise<Written> {
    const seqs: number[] = [];
    for (const pair of await this.strangersIn(channelId, pairs.map(storablePair))) {
      const written = await this.changing(fence, channelId, (transaction) => mergePerson(transaction, pair));
      seqs.push(...written.seqs);
    }
    return { seqs };
  }

  /**
   * Removes a chat and its messages, with a `chats.delete` event. An unknown chat makes none. Of a long chat this removes a
   * part: {@link finishRemovals} is to be called next.
   * @param deletedUntilS when it was deleted (epoch seconds), if that may be received late: a chat in which something was
   * sent since then stays, and loses only what is not younger
   */
  async deleteChat(fence: Fence, channelId: string, id: string, deletedUntilS?: number): Promise<Written> {
    const chatId = storableId(id);
    return this.changing(fence, channelId, async (transaction) => {
      const untilS = deletedUntilS === undefined ? undefined : storableMoment(deletedUntilS);
      if (untilS !== undefined && (await isYounger(transaction, chatId, untilS)))
        return this.clear(transaction, chatId, untilS);
      await beginRemoval(transaction, this.endFiles, { chatId });
      const count = await DELETE_CHAT.count(transaction.connection, channelId, chatId);
      return count === 0 ? [] : [{ type: 'chats', method: 'delete', payload: { chats_removed: [chatId] } }];
    });
  }

  /**
   * Removes the messages of a chat, which stays, with a `messages.delete` event of all. A chat without messages makes none.
   * Of a long chat this removes a part: {@link finishRemovals} is to be called next.
   * @param untilS only those that are not younger (epoch seconds): what came after the chat was cleared stays
   */
  async clearChat(fence: Fence, channelId: string, id: string, untilS?: number): Promise<Written> {
    const moment = untilS === undefined ? undefined : storableMoment(untilS);
    return this.changing(fence, channelId, (transaction) => this.clear(transaction, storableId(id), moment));
  }

  private async clear(transaction: ChannelTransaction, chatId: string, untilS?: number): Promise<ChannelEvent[]> {
    const before = await chatsById(transaction, [chatId]);
    const removed = await beginRemoval(transaction, this.endFiles, { chatId, sentUntilS: untilS });
    if (removed === 0) return [];
    await CLEAR_CHAT.count(transaction.connection, transaction.channelId, chatId, untilS ?? null);
    const all: ChannelEvent = { type: 'messages', method: 'delete', payload: { messages_removed_all: chatId } };
    return [all, ...chatEvents(before, await chatsById(transaction, [chatId]))];
  }

  /** Removes what is left of long chats that were deleted or cleared, by this owner or one before. No events. */
  finishRemovals(fence: Fence, channelId: string): Promise<void> {
    return finishRemovals(this.database, this.endFiles, { fence, channelId });
  }

  /**
   * The phone is about to send a new device the states of its chats; those an earlier device received may be over.
   * No events: what is still so comes in a moment.
   */
  async forgetChatStates(fence: Fence, channelId: string): Promise<void> {
    await channelTransaction(this.database, fence, channelId, async ({ connection }) => {
      await FORGET_STATES.count(connection, channelId);
    });
  }

  /** The channel was linked to this number: what an earlier one had goes. No events. See `number-change.ts`. */
  beginNumber(fence: Fence, channelId: string, phone: string): Promise<boolean> {
    return beginNumber(this.database, fence, channelId, phone, this.endFiles);
  }

  /** The newest messages of a chat; of others only, or of all. */
  async lastMoments(
    channelId: string,
    chatId: string,
    { count, fromOthers }: { count: number; fromOthers: boolean },
  ): Promise<KeyedMoment[]> {
    const statement = fromOthers ? LAST_OF_OTHERS : LAST_MOMENTS;
    const rows = await statement.all(this.database.pool, channelId, chatId, count);
    return rows.map((row) => ({
      id: row.key_id,
      remote: row.key_remote,
      ...(row.key_participant !== null && { participant: row.key_participant }),
      fromMe: row.from_me,
      timestamp: Number(row.timestamp),
    }));
  }

  private changing(
    fence: Fence,
    channelId: string,
    change: (transaction: ChannelTransaction) => Promise<ChannelEvent[]>,
  ): Promise<Written> {
    return channelTransaction(this.database, fence, channelId, async (transaction) => ({
      seqs: await transaction.append(await change(transaction)),
    }));
  }

  private async newsIn(channelId: string, contacts: readonly ContactRecord[]): Promise<ContactRecord[]> {
    const rows = await NEWS_OF_CONTACTS.all(this.database.pool, channelId, storableJson(contacts));
    const news = new Set(rows.map(({ at }) => Number(at)));
    return contacts.filter((_contact, index) => news.has(index + 1));
  }

  private async strangersIn(channelId: string, pairs: readonly PersonPair[]): Promise<PersonPair[]> {
    if (pairs.length === 0) return [];
    return STRANGERS.all(this.database.pool, channelId, storableJson(pairs));
  }
}

/** Was anything sent in the chat after this moment? */
async function isYounger(
  { connection, channelId }: ChannelTransaction,
  chatId: string,
  untilS: number,
): Promise<boolean> {
  return (await YOUNGER.first(connection, channelId, chatId, untilS))?.younger === true;
}
