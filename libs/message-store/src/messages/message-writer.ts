import { storable, storableJson, type Fence, type GroupedWrites, type RegionalDatabase } from '@dormouse/database';
import type { ChannelEvent, Message } from '@dormouse/gateway-contract';
import { channelTransaction, type ChannelTransaction } from '../events/channel-transaction.js';
import { writeChats, writeContacts } from '../chats/chat-writes.js';
import { messageDifference, toStoredMessage, type KeyedMessageRow } from './message-rows.js';
import {
  CHANGE,
  IN_CHAT,
  PENDING_SENDS,
  PROTO,
  RECORD_READ,
  REMOVE,
  TO_UPDATE,
  UNCONFIRMED_SEND,
  WITH_KEY,
} from './message-statements.js';
import { insertMessages, ownMessages, touchChats } from './message-writes.js';
import { ownMessageWrites, type AppendedSeq, type OwnMessage } from './own-message-writes.js';
import type { ChatRecord, ContactRecord, MessageRecord, StoredMessage } from '../records.js';
import { ReportQueue } from '../statuses/report-queue.js';
import { UNCONFIRMED, type StatusReport } from '../statuses/status-ladder.js';
import {
  isPlain,
  runsOf,
  statusStepWrites,
  type StatusSeqs,
  type StatusUpdate,
} from '../statuses/status-step-writes.js';
import { changesOf, receiptsOf, toReports, writeStatuses } from '../statuses/status-writes.js';
import { storableChat, storableId, storableContact, storableMessage, storableReport } from '../storable-records.js';

/** What a write did. */
export interface Written {
  /** Sequence numbers of the events it made; when there are any, tell the dispatcher after this returned. */
  seqs: number[];
}

export interface MessagesWritten extends Written {
  /** Public ids of the messages that were new. */
  ids: string[];
}

/** A change that one message makes to another (an edit, a deletion, a reaction). */
export interface MessageChange {
  /** The message that makes the change. */
  trigger: MessageRecord;
  /** The network's id of the message that changes, and the chat both are in. */
  target: { keyId: string; chatId: string };
  /** The message as it is after the change; undefined when it may not be made or changes nothing. */
  readonly apply: (before: Message) => Message | undefined;
}

/**
 * Writes what a channel said and heard. Every method is one fenced transaction on the channel (see
 * `channel-transaction.ts`), throws `FencedError` before anything is written when the shard has a newer owner, and the
 * driver's error when PostgreSQL is away; calling it again with the same input writes nothing twice.
 */
export class MessageWriter {
  private readonly database: Pick<RegionalDatabase, 'pool'>;
  private readonly ownMessages: GroupedWrites<OwnMessage, AppendedSeq>;
  private readonly steps: GroupedWrites<StatusUpdate, StatusSeqs>;
  private readonly reports = new ReportQueue((...given) => this.writeReports(...given));

  constructor({ database }: { database: Pick<RegionalDatabase, 'pool'> }) {
    this.database = database;
    this.ownMessages = ownMessageWrites(database.pool);
    this.steps = statusStepWrites(database.pool);
  }

  /** One message; see {@link recordMessages}. */
  async recordMessage(fence: Fence, channelId: string, record: MessageRecord): Promise<MessagesWritten> {
    return this.recordMessages(fence, channelId, [record]);
  }

  /**
   * Messages in the order they were heard: rows, first receipts, chats, authors, and a `messages.post` event for each
   * that was not there before. Receipts of an own message that were heard before it are told right after it.
   */
  async recordMessages(fence: Fence, channelId: string, records: readonly MessageRecord[]): Promise<MessagesWritten> {
    const [first] = records;
    if (!first) return { seqs: [], ids: [] };
    if (records.length === 1 && isOwnSend(first)) {
      const record = storableMessage(first);
      const seq = await this.ownMessages.write({ fence, channelId, record });
      if (seq !== undefined) return { seqs: [seq], ids: [record.message.id] };
    }
    return channelTransaction(this.database, fence, channelId, async (transaction) => {
      const { messages, events } = await write(transaction, records, true);
      return { seqs: await transaction.append(events), ids: messages.map(({ id }) => id) };
    });
  }

  /**
   * What the phone knew before the link: chats, contacts, messages and what changed them, without events. Give it batches of some hundreds,
   * as the channel's other writes wait meanwhile.
   */
  async recordHistory(
    fence: Fence,
    channelId: string,
    history: {
      chats?: readonly ChatRecord[];
      contacts?: readonly ContactRecord[];
      messages?: readonly MessageRecord[];
      /** Of those whose trigger is among the messages and was not known. */
      changes?: readonly MessageChange[];
    },
  ): Promise<void> {
    await channelTransaction(this.database, fence, channelId, async (transaction) => {
      await writeContacts(transaction, (history.contacts ?? []).map(storableContact));
      const { messages } = await write(transaction, history.messages ?? [], false);
      for (const change of history.changes ?? []) {
        const trigger = messages.find(({ id }) => id === change.trigger.message.id);
        if (trigger) await changeTarget(transaction, change, trigger);
      }
      await writeChats(transaction, (history.chats ?? []).map(storableChat));
    });
  }

  /**
   * How far own messages got; a `statuses.post` event for every step that is news. Reports of a channel are written in
   * the order of calls, those of several calls together where they wait.
   */
  async recordStatuses(fence: Fence, channelId: string, reports: readonly StatusReport[]): Promise<Written> {
    return { seqs: reports.length === 0 ? [] : await this.reports.add(fence, channelId, reports) };
  }

  /**
   * A message that changes another one. Tells the changing message (`messages.post`) and, if the other one is known and
   * did change, its change (`messages.patch`, or `messages.delete` when its status became deleted).
   */
  async recordChange(fence: Fence, channelId: string, change: MessageChange): Promise<MessagesWritten> {
    return channelTransaction(this.database, fence, channelId, async (transaction) => {
      const { messages, events } = await write(transaction, [change.trigger], true);
      const [trigger] = messages;
      if (!trigger) return { seqs: [], ids: [] };
      const changed = await changeTarget(transaction, change, trigger);
      return { seqs: await transaction.append([...events, ...changed]), ids: [trigger.id] };
    });
  }

  /**
   * A change that no message made, such as a file that is there now. Told with `messages.patch`, without a trigger.
   * @param change.apply undefined when nothing changes
   */
  async recordUpdate(
    fence: Fence,
    channelId: string,
    { id, apply }: { id: string; apply: MessageChange['apply'] },
  ): Promise<Written> {
    return channelTransaction(this.database, fence, channelId, async (transaction) => {
      const row = await TO_UPDATE.first(transaction.connection, channelId, storableId(id));
      return { seqs: await transaction.append(await changeMessage(transaction, row, apply)) };
    });
  }

  /**
   * The owner read these messages on the phone or another device: unread in their chats is what came later.
   * @param keyIds the network's ids of messages of others
   */
  async recordRead(fence: Fence, channelId: string, keyIds: readonly string[]): Promise<void> {
    await channelTransaction(this.database, fence, channelId, async ({ connection }) => {
      await RECORD_READ.count(connection, channelId, keyIds.map(storableId));
    });
  }

  /**
   * Messages that were deleted on the channel's own devices: their status becomes deleted, each is told with a
   * `messages.delete` event. What is not known or deleted already is passed over.
   * @param keyIds the network's ids
   */
  async recordRemoval(fence: Fence, channelId: string, keyIds: readonly string[]): Promise<Written> {
    return channelTransaction(this.database, fence, channelId, async (transaction) => {
      const rows = await REMOVE.all(transaction.connection, channelId, keyIds.map(storableId));
      return { seqs: await transaction.append(rows.map((row) => removedEvent(row.id, row.chat_id))) };
    });
  }

  /** A message of the channel by its public id, with what the network needs to refer to it. */
  async find(channelId: string, id: string): Promise<StoredMessage | undefined> {
    const row = await WITH_KEY.first(this.database.pool, channelId, id);
    return row && toStoredMessage(row);
  }

  /** The message of a chat that has this id on the network; actions are none. */
  async findInChat(channelId: string, { keyId, chatId }: MessageChange['target']): Promise<StoredMessage | undefined> {
    const row = await IN_CHAT.first(this.database.pool, channelId, storableId(keyId), storableId(chatId));
    return row && toStoredMessage(row);
  }

  /**
   * The network's Message of an own message, to answer a request to send it again. Only for a chat that the message was
   * sent to: whoever asks for another chat's message gets nothing.
   * @param chatIds the chat of the request, in each form it may be stored (number and LID)
   */
  async protoOf(channelId: string, keyId: string, chatIds: readonly string[]): Promise<Buffer | undefined> {
    const row = await PROTO.first(this.database.pool, channelId, storableId(keyId), chatIds.map(storableId));
    return row?.proto ?? undefined;
  }

  /**
   * Sends of the channel that are still pending, among its last own messages: those whose outcome an earlier connection,
   * or an earlier owner, left open.
   * @param own the channel's own contact id
   * @param untilS only those sent up to then, in epoch seconds
   * @returns the network's ids, newest first
   */
  async pendingSends(channelId: string, own: string, untilS: number): Promise<string[]> {
    const rows = await PENDING_SENDS.all(this.database.pool, channelId, own, untilS);
    return rows.map(({ key_id: keyId }) => keyId);
  }

  /** Did a failed message fail only because the network never confirmed it? Then it may have been taken. */
  async isUnconfirmed(channelId: string, keyId: string): Promise<boolean> {
    const errors = JSON.stringify([{ code: UNCONFIRMED.code }]);
    return (await UNCONFIRMED_SEND.first(this.database.pool, channelId, keyId, errors)) !== undefined;
  }

  private async writeReports(fence: Fence, channelId: string, reports: readonly StatusReport[]): Promise<number[]> {
    const clean = reports.map(storableReport);
    const plain = clean.every(isPlain) ? await this.climb(fence, channelId, clean) : { seqs: [], unknown: clean };
    if (plain.unknown.length === 0) return plain.seqs;
    const seqs = await channelTransaction(this.database, fence, channelId, async (transaction) =>
      transaction.append(await applyReports(transaction, plain.unknown)),
    );
    return [...plain.seqs, ...seqs];
  }

  /** @returns the numbers of the events, and the reports that were left alone because their message is not known */
  private async climb(
    fence: Fence,
    channelId: string,
    reports: readonly StatusReport[],
  ): Promise<{ seqs: number[]; unknown: StatusReport[] }> {
    const seqs: number[] = [];
    const unknown: StatusReport[] = [];
    for (const run of runsOf(reports)) {
      const taken = await this.steps.write({ fence, channelId, reports: run });
      if (taken) seqs.push(...taken);
      else unknown.push(...run);
    }
    return { seqs, unknown };
  }
}

/** A message that the API is about to send: new for certain, unless a write of it is repeated. */
function isOwnSend({ message }: MessageRecord): boolean {
  return message.from_me && message.source === 'api' && message.type !== 'action' && message.from_name === undefined;
}

async function write(
  transaction: ChannelTransaction,
  records: readonly MessageRecord[],
  live: boolean,
): Promise<{ messages: Message[]; events: ChannelEvent[] }> {
  if (records.length === 0) return { messages: [], events: [] };
  const clean = records.map(storableMessage);
  const fresh = await insertMessages(transaction, clean, live ? authorsOf(clean) : []);
  const messages = clean.map(({ message }) => message).filter(({ id }) => fresh.delete(id)); // once each
  if (messages.length === 0) return { messages: [], events: [] };
  const { names, made } = await touchChats(transaction, messages, live);
  if (!live) return { messages, events: [] };
  const waited = new Set(clean.filter((record) => record.waited).map(({ message }) => message.id));
  const quiet = new Set(clean.filter((record) => record.quiet).map(({ message }) => message.id));
  const events = messages.flatMap((message): ChannelEvent[] => {
    if (quiet.has(message.id)) return [];
    const chatName = names.get(message.chat_id);
    return [
      {
        type: 'messages',
        method: waited.has(message.id) ? 'put' : 'post',
        payload: { messages: [{ ...message, ...(chatName && { chat_name: chatName }) }] },
      },
    ];
  });
  const newChats = made.map((chat): ChannelEvent => ({ type: 'chats', method: 'post', payload: { chats: [chat] } }));
  return { messages, events: [...events, ...newChats, ...(await applyEarlyReceipts(transaction, clean, messages))] };
}

/** The names authors give themselves, from messages they wrote. */
function authorsOf(records: readonly MessageRecord[]): ContactRecord[] {
  return records.flatMap(({ message: { from, from_me: fromMe, from_name: name } }) =>
    fromMe || from === undefined || name === undefined ? [] : [{ id: from, pushName: name }],
  );
}

/** A message sent through the API is written before the network hears it: nothing can have been heard of it. */
async function applyEarlyReceipts(
  transaction: ChannelTransaction,
  records: readonly MessageRecord[],
  fresh: readonly Message[],
): Promise<ChannelEvent[]> {
  const ids = new Set(fresh.filter(({ from_me: fromMe, source }) => fromMe && source !== 'api').map(({ id }) => id));
  const keyIds = records.filter(({ message }) => ids.has(message.id)).map(({ key }) => key.id);
  if (keyIds.length === 0) return [];
  const early = await receiptsOf(transaction, keyIds);
  const changes = changesOf(toReports(early), await ownMessages(transaction, keyIds), []);
  await writeStatuses(transaction, changes);
  return changes.events;
}

async function applyReports(
  transaction: ChannelTransaction,
  reports: readonly StatusReport[],
): Promise<ChannelEvent[]> {
  const keyIds = [...new Set(reports.map(({ keyId }) => keyId))];
  const messages = await ownMessages(transaction, keyIds);
  const taken = messages.size > 0 ? await receiptsOf(transaction, keyIds) : [];
  const changes = changesOf(reports, messages, taken);
  await writeStatuses(transaction, changes);
  return changes.events;
}

async function changeTarget(
  transaction: ChannelTransaction,
  { target, apply }: MessageChange,
  trigger: Message,
): Promise<ChannelEvent[]> {
  const { connection, channelId } = transaction;
  const row = await IN_CHAT.first(connection, channelId, storableId(target.keyId), storableId(target.chatId));
  return changeMessage(transaction, row, apply, trigger);
}

/** @param trigger the message that makes the change, if one does */
async function changeMessage(
  { connection, channelId }: ChannelTransaction,
  row: KeyedMessageRow | undefined,
  apply: MessageChange['apply'],
  trigger?: Message,
): Promise<ChannelEvent[]> {
  const before = row && toStoredMessage(row).message;
  const changed = before && apply(before);
  if (!changed) return [];
  const after = storable(changed);
  const { id, type, status, ...rest } = after;
  const content = Object.fromEntries(Object.entries(rest).filter(([name]) => !COLUMN_FIELDS.has(name)));
  await CHANGE.count(connection, channelId, id, type, status ?? null, storableJson(content));
  if (status === 'deleted') return [removedEvent(id, before.chat_id)];
  const update = { id, ...(trigger && { trigger }), ...messageDifference(before, after) };
  return [{ type: 'messages', method: 'patch', payload: { messages_updates: [update] } }];
}

function removedEvent(id: string, conversation: string): ChannelEvent {
  return { type: 'messages', method: 'delete', payload: { messages_removed: [id] }, conversation };
}

/** Fields of the wire shape that have a column of their own and do not change. */
const COLUMN_FIELDS = new Set([
  'chat_id',
  'chat_name',
  'from',
  'from_me',
  'from_name',
  'source',
  'timestamp',
  'device_id',
]);
