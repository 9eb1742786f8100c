import { storable, storableJson, type Fence, type GroupedWrites, type RegionalDatabase } from '@dormouse/database';
import type { ChannelEvent, Message } from '@dormouse/gateway-contract';
import { traceparent } from '@dormouse/traces';
import { channelTransaction, type ChannelTransaction } from '../events/channel-transaction.js';
import { writingEvents } from '../events/event-span.js';
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
import { ownSendWrites, writeMessages, type NewMessages, type OwnSend } from './message-writes.js';
import type { ChatRecord, ContactRecord, MessageRecord, StoredMessage } from '../records.js';
import { ReportQueue } from '../statuses/report-queue.js';
import { UNCONFIRMED, type StatusReport } from '../statuses/status-ladder.js';
import {
  isSimpleStatus,
  statusWrites,
  writeEarlyStatuses,
  writeStatuses,
  type StatusSteps,
  type StatusUpdate,
} from '../statuses/status-writes.js';
import { storableChat, storableId, storableContact, storableMessage, storableReport } from '../storable-records.js';

/** What a write did. */
export interface Written {
  /** Sequence numbers of the events it made; when there are any, notify the dispatcher after this returned. */
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
 * Writes what a channel sent and received. Every method is one fenced transaction on the channel (see
 * `channel-transaction.ts`), throws `FencedError` before anything is written when the shard has a newer owner, and the
 * driver's error when PostgreSQL is away; calling it again with the same input writes nothing twice.
 */
export class MessageWriter {
  private readonly database: Pick<RegionalDatabase, 'pool'>;
  private readonly ownSends: GroupedWrites<OwnSend, NewMessages | undefined>;
  private readonly statuses: GroupedWrites<StatusUpdate, StatusSteps>;
  private readonly reports = new ReportQueue((...given) => this.writeReports(...given));

  constructor({ database }: { database: Pick<RegionalDatabase, 'pool'> }) {
    this.database = database;
    this.ownSends = ownSendWrites(database.pool);
    this.statuses = statusWrites(database.pool);
  }

  /** One message; see {@link recordMessages}. */
  async recordMessage(fence: Fence, channelId: string, record: MessageRecord): Promise<MessagesWritten> {
    return this.recordMessages(fence, channelId, [record]);
  }

  /**
   * Messages in the order they were received: rows, first receipts, chats, authors, and a `messages.post` event for each
   * that was not there before. Receipts of an own message that were received before it make their events right after it.
   */
  async recordMessages(fence: Fence, channelId: string, records: readonly MessageRecord[]): Promise<MessagesWritten> {
    const clean = records.map(storableMessage);
    const [first] = clean;
    if (!first) return { seqs: [], ids: [] };
    return writingEvents(async () => {
      if (clean.length === 1 && isOwnSend(first)) {
        const written = await this.ownSends.write({ fence, channelId, record: first, traceparent: traceparent() });
        if (written) return written;
      }
      return channelTransaction(this.database, fence, channelId, (transaction) => writeLive(transaction, clean));
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
      const messages = (history.messages ?? []).map(storableMessage);
      const ids = new Set((await writeMessages(transaction, messages, false)).ids);
      for (const change of history.changes ?? []) {
        const { message: trigger } = storableMessage(change.trigger);
        if (ids.has(trigger.id)) await changeTarget(transaction, change, trigger);
      }
      await writeChats(transaction, (history.chats ?? []).map(storableChat));
    });
  }

  /**
   * How far own messages got; a `statuses.post` event for every step that is news. Reports of a channel are written in
   * the order of calls, those of several calls together where they wait.
   */
  async recordStatuses(fence: Fence, channelId: string, reports: readonly StatusReport[]): Promise<Written> {
    if (reports.length === 0) return { seqs: [] };
    return writingEvents(async () => ({ seqs: await this.reports.add(fence, channelId, reports.map(traced)) }));
  }

  /**
   * A message that changes another one. Events: the changing message (`messages.post`) and, if the other one is known and
   * did change, its change (`messages.patch`, or `messages.delete` when its status became deleted).
   */
  async recordChange(fence: Fence, channelId: string, change: MessageChange): Promise<MessagesWritten> {
    return this.writeEvents(fence, channelId, async (transaction) => {
      const trigger = storableMessage(change.trigger);
      const { ids, seqs } = await writeLive(transaction, [trigger]);
      if (ids.length === 0) return { seqs, ids };
      const changed = await changeTarget(transaction, change, trigger.message);
      return { seqs: [...seqs, ...(await transaction.append(changed))], ids };
    });
  }

  /**
   * A change that no message made, such as a file that is there now. Its event is `messages.patch`, without a trigger.
   * @param change.apply undefined when nothing changes
   */
  async recordUpdate(
    fence: Fence,
    channelId: string,
    { id, apply }: { id: string; apply: MessageChange['apply'] },
  ): Promise<Written> {
    return this.writeEvents(fence, channelId, async (transaction) => {
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
   * Messages that were deleted on the channel's own devices: their status becomes deleted, each makes a
   * `messages.delete` event. What is not known or deleted already is passed over.
   * @param keyIds the network's ids
   */
  async recordRemoval(fence: Fence, channelId: string, keyIds: readonly string[]): Promise<Written> {
    return this.writeEvents(fence, channelId, async (transaction) => {
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
   * sent to: a request for another chat's message gets nothing.
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

  private writeEvents<T>(
    fence: Fence,
    channelId: string,
    work: (transaction: ChannelTransaction) => Promise<T>,
  ): Promise<T> {
    return writingEvents(() => channelTransaction(this.database, fence, channelId, work));
  }

  private async writeReports(fence: Fence, channelId: string, reports: readonly StatusReport[]): Promise<number[]> {
    const clean = reports.map(storableReport);
    if (!clean.every(isSimpleStatus)) return this.writeSettled(fence, channelId, clean);
    const { seqs, left } = await this.statuses.write({ fence, channelId, reports: clean });
    if (left.length === 0) return [...seqs];
    const others = clean.filter(({ keyId }) => left.includes(keyId));
    return [...seqs, ...(await this.writeSettled(fence, channelId, others))];
  }

  private async writeSettled(fence: Fence, channelId: string, reports: readonly StatusReport[]): Promise<number[]> {
    return channelTransaction(this.database, fence, channelId, (transaction) => writeStatuses(transaction, reports));
  }
}

/** Reports of several calls are written together: each names its own trace. */
function traced(report: StatusReport): StatusReport {
  const trace = traceparent();
  return trace === undefined ? report : { ...report, traceparent: trace };
}

/** A message that the API is about to send: its key is new for certain, unless a write of it is repeated. */
function isOwnSend({ message }: MessageRecord): boolean {
  return message.from_me && message.source === 'api';
}

/** Messages with their events, and the steps of own ones that were reported before them. */
async function writeLive(transaction: ChannelTransaction, records: readonly MessageRecord[]): Promise<MessagesWritten> {
  const { ids, seqs } = await writeMessages(transaction, records, true);
  // A message sent through the API is written before it is transmitted: nothing can have been reported of it.
  const fromPhone = records.filter(({ message }) => message.from_me && message.source !== 'api');
  const keyIds = fromPhone.filter(({ message }) => ids.includes(message.id)).map(({ key }) => key.id);
  return { ids, seqs: [...seqs, ...(await writeEarlyStatuses(transaction, keyIds))] };
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
