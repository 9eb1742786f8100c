import { FencedError, isStoreAway } from '@dormouse/database';
import type { ChatRecord, MessageRecord } from '@dormouse/message-store/write';
import type { BaileysEventMap, WAMessage } from '@whiskeysockets/baileys';
import { chatIdOf } from '../convert/chat.js';
import type { ClearedChat } from '../sessions/cleared-chat.js';
import type { HeardAction } from '../convert/action-record.js';
import type { Addition } from '../convert/addition.js';
import { betterCopyFromNetwork } from '../convert/better-copy.js';
import { actionFromNetwork } from '../convert/change-from-network.js';
import { isGroup } from '../convert/jid.js';
import { messageFromNetwork } from '../convert/message-from-network.js';
import type { People } from '../convert/people.js';
import { sealedFromNetwork } from '../convert/sealed-from-network.js';
import { learnTimers } from './chat-timers.js';
import { learnPeople } from './contacts.js';
import { storeAndTell, type Hearing } from './hearing.js';
import { peopleIn, peopleInGroups } from './people-in.js';

/** So many messages of a backlog are stored together. */
const BATCH = 50;

/**
 * New messages: live ones ("notify") and those that waited while the device was offline ("append") alike; also own ones
 * from the phone and its other devices. What is no news to a person is left out.
 */
export async function hearMessages(hearing: Hearing, { messages }: BaileysEventMap['messages.upsert']): Promise<void> {
  const failed = new Set<WAMessage>();
  for (let at = 0; at < messages.length; at += BATCH) {
    await hearBatch(hearing, messages.slice(at, at + BATCH), failed);
  }
  // What could not be stored stays in the journal, for a build that can.
  hearing.session.settle(messages.filter((message) => !failed.has(message)));
  await hearing.automatic.heard(hearing, messages);
}

/** @param failed takes the messages of which nothing could be stored, by their own fault */
async function hearBatch(hearing: Hearing, messages: WAMessage[], failed: Set<WAMessage>): Promise<void> {
  const { ear } = hearing;
  const people = await ear.store(() => peopleInGroups(hearing, messages));
  await isolated(hearing, () => learnPeople(hearing, people.numbers));
  const all = messages.map((message) => ({ message, ...readOrFail(hearing, message, people, failed) }));
  const timers = learnTimers(
    hearing,
    all.flatMap(({ record, action }) => (record ?? action?.trigger)?.message ?? []),
  );
  let records: HeardRecord[] = [];
  for (const { message, record, action, addition } of all) {
    if (record) records.push({ message, record });
    if (!action && !addition) continue;
    await storeRecords(hearing, records, failed); // an action follows what it changes
    records = [];
    const found = addition ? await readAddition(hearing, message, addition, failed) : { action };
    if (found.record) records.push({ message, record: found.record });
    const change = found.action;
    if (change && !(await isolated(hearing, () => storeAction(hearing, change)))) failed.add(message);
  }
  await storeRecords(hearing, records, failed);
  if (timers.length > 0) await isolated(hearing, () => storeTimers(hearing, timers));
}

function storeTimers({ session, ear, writer }: Hearing, chats: readonly ChatRecord[]): Promise<void> {
  return ear.store(() => writer.recordHistory(session.fence, session.channelId, { chats }));
}

/** One that cannot be read is reported and costs no other. */
function readOrFail({ session }: Hearing, message: WAMessage, people: People, failed: Set<WAMessage>): Read {
  try {
    return read(message, people) ?? {};
  } catch (error) {
    session.reportFault(error);
    failed.add(message);
    return {};
  }
}

interface HeardRecord {
  readonly message: WAMessage;
  readonly record: MessageRecord;
}

/** What a heard message turns out to be. */
interface Read {
  record?: MessageRecord;
  action?: HeardAction;
  /** Something that can be read only with the message it belongs to. */
  addition?: Addition;
}

function read(message: WAMessage, people: People): Read | undefined {
  const addition = sealedFromNetwork(message, people) ?? betterCopyFromNetwork(message, people);
  if (addition) return { addition };
  const action = actionFromNetwork(message, people);
  if (action) return { action };
  const record = messageFromNetwork(message, people);
  return record && { record };
}

async function storeRecords(hearing: Hearing, heard: readonly HeardRecord[], failed: Set<WAMessage>): Promise<void> {
  if (heard.length === 0) return;
  const { session } = hearing;
  const marked = await quietNotices(
    hearing,
    heard.map(({ record }) => markWaited(session, record)),
  );
  const records = (await hearing.downloads?.complete(session, marked)) ?? marked;
  try {
    await writeRecords(hearing, records);
  } catch (error) {
    if (concernsAll(error)) throw error;
    for (const [index, record] of records.entries()) {
      const message = heard[index]?.message;
      const stored = await isolated(hearing, () => writeRecords(hearing, [record]));
      if (!stored && message && !(await isolated(hearing, () => writeRecords(hearing, [bare(record)])))) {
        failed.add(message);
      }
    }
  }
}

/** Group notices are `groups` events; `messages` events of them go only to channels that ask for those. */
async function quietNotices(hearing: Hearing, records: readonly MessageRecord[]): Promise<MessageRecord[]> {
  const { ear, session, wantsGroupNotices } = hearing;
  const isNotice = ({ message }: MessageRecord) => message.type === 'system' && isGroup(message.chat_id);
  if (!records.some(isNotice) || (await ear.store(() => wantsGroupNotices(session.channelId)))) return [...records];
  return records.map((record) => (isNotice(record) ? { ...record, quiet: true } : record));
}

function writeRecords(hearing: Hearing, records: readonly MessageRecord[]): Promise<void> {
  const { session, writer } = hearing;
  return storeAndTell(hearing, () => writer.recordMessages(session.fence, session.channelId, records));
}

/** That there was a message, of whom, where and when: what is left of one whose content cannot be stored. */
function bare({ message, key, keyAliases, waited, quiet }: MessageRecord): MessageRecord {
  const { id, chat_id, from, from_me, source, timestamp, status } = message;
  return {
    message: {
      id,
      type: 'unknown',
      chat_id,
      ...(from !== undefined && { from }),
      from_me,
      source,
      timestamp,
      ...(status && { status }),
    },
    key,
    ...(keyAliases && { keyAliases }),
    ...(waited && { waited }),
    ...(quiet && { quiet }),
  };
}

/**
 * A message that cannot be stored must not cost those that follow.
 * @returns whether it could
 */
async function isolated({ session }: Hearing, write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (concernsAll(error)) throw error;
    session.reportFault(error);
    return false;
  }
}

/** Says nothing about this message: the database is away, or another worker owns the shard. */
function concernsAll(error: unknown): boolean {
  return isStoreAway(error) || error instanceof FencedError;
}

async function storeAction(hearing: Hearing, { trigger, change }: HeardAction): Promise<void> {
  const { session, writer } = hearing;
  const { fence, channelId } = session;
  const record = markWaited(session, trigger);
  const writeTrigger = () => storeAndTell(hearing, () => writer.recordMessage(fence, channelId, record));
  if (!change) return writeTrigger();
  try {
    await storeAndTell(hearing, () => writer.recordChange(fence, channelId, { ...change, trigger: record }));
  } catch (error) {
    if (concernsAll(error)) throw error;
    session.reportFault(error);
    await writeTrigger(); // the change cannot be made; that it was asked for can be told
  }
}

/** What the network kept while the session was away is told so. */
function markWaited(session: Hearing['session'], record: MessageRecord): MessageRecord {
  return session.hasWaited(record) ? { ...record, waited: true } : record;
}

/** Reads what can be read only with the message that it belongs to. */
async function readAddition(
  hearing: Hearing,
  message: WAMessage,
  addition: Addition,
  failed: Set<WAMessage>,
): Promise<Read> {
  const { ear, session, writer } = hearing;
  let read: Read = {};
  const isRead = await isolated(hearing, async () => {
    const target = await ear.store(() => writer.findInChat(session.channelId, addition.target));
    read = addition.read(target) ?? {};
  });
  if (!isRead) failed.add(message);
  return read;
}

/** Messages that the owner deleted on the phone, for its own devices only; or a chat that was cleared there. */
export async function hearRemovals(hearing: Hearing, removed: BaileysEventMap['messages.delete']): Promise<void> {
  const { fence, channelId } = hearing.session;
  if (!('keys' in removed)) return hearCleared(hearing, removed);
  const keyIds = removed.keys.flatMap(({ id }) => id ?? []);
  await storeAndTell(hearing, () => hearing.writer.recordRemoval(fence, channelId, keyIds));
}

async function hearCleared(hearing: Hearing, { jid, untilS }: ClearedChat): Promise<void> {
  const { session, ear, chats } = hearing;
  const { numbers } = await ear.store(() => peopleIn(session, [jid]));
  const chatId = chatIdOf({ id: jid }, numbers);
  if (chatId === undefined) return;
  await session.forgetSettled();
  await storeAndTell(hearing, () => chats.clearChat(session.fence, session.channelId, chatId, untilS));
  await ear.store(() => chats.finishRemovals(session.fence, session.channelId));
}
