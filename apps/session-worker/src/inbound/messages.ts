import { FencedError, isStoreAway } from '@dormouse/database';
import type { Message } from '@dormouse/gateway-contract';
import type { ChatRecord, MessageRecord } from '@dormouse/message-store/write';
import { chatIdOf } from '../convert/chat.js';
import type { ClearedChat } from '../socket/patches/shared-state-changes.js';
import type { ReceivedAction } from '../convert/action-record.js';
import type { Addition, ReadAddition } from '../convert/addition.js';
import { betterCopyFromNetwork } from '../convert/better-copy.js';
import { actionFromNetwork } from '../convert/change-from-network.js';
import { isGroup } from '../convert/jid.js';
import { messageFromNetwork } from '../convert/message-from-network.js';
import type { People } from '../convert/people.js';
import { sealedFromNetwork } from '../convert/sealed-from-network.js';
import type { NetworkEvents, NetworkMessage } from '../socket/network-events.js';
import { linked, mediaIdOf, type FileUnderWay } from './auto-download.js';
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
export async function hearMessages(hearing: Hearing, { messages }: NetworkEvents['messages']): Promise<void> {
  for (let at = 0; at < messages.length; at += BATCH) await hearBatch(hearing, messages.slice(at, at + BATCH));
}

/** Stores what need not wait for a file, nor for what does in its chat; see waiting-chats.ts. */
async function hearBatch(hearing: Hearing, messages: NetworkMessage[]): Promise<void> {
  const { ear, session, downloads, waiting } = hearing;
  const people = await ear.store(() => peopleInGroups(hearing, messages));
  await isolated(hearing, () => learnPeople(hearing, people.numbers));
  const failed = new Set<NetworkMessage>();
  const items = messages.map((message) => ({ message, read: readOrFail(hearing, message, people, failed) }));
  const records = items.flatMap(({ read: { record } }) => record ?? []);
  const files = await downloads?.begin(session, records);
  const now = items.filter((item) => {
    const file = item.read.record && files?.get(item.read.record);
    const chatId = chatOf(item, people);
    if (chatId === undefined || !(file || waiting.has(chatId))) return true;
    waiting.add(chatId, {
      ready: file?.waited ?? Promise.resolve(),
      store: () => (file ? storeWithFile(hearing, item, file) : storeItems(hearing, [item])),
    });
    return false;
  });
  await storeItems(hearing, now, failed);
}

/** A heard message, and what it turned out to be. */
interface Item {
  readonly message: NetworkMessage;
  readonly read: Read;
}

/** The chat that an item belongs to, as customers see it. */
function chatOf({ message, read: { record, action } }: Item, people: People): string | undefined {
  const chatId = record?.message.chat_id ?? action?.trigger.message.chat_id;
  return chatId ?? chatIdOf({ id: message.key.remoteJid }, people.numbers);
}

/** Stores a message with a link to its file when that is there; else the link is told when it comes. */
async function storeWithFile(hearing: Hearing, item: Item, { link }: FileUnderWay): Promise<void> {
  const { record } = item.read;
  if (!record) return;
  const { message } = record;
  const there = await Promise.race([link, Promise.resolve(undefined)]);
  const shown = there === undefined ? undefined : linked(message, mediaIdOf(message), there);
  await storeItems(hearing, [{ ...item, read: { record: { ...record, message: shown ?? message } } }]);
  if (there === undefined) tellLateLink(hearing, message, link);
}

/** Tells the link to a file that comes after its message was stored. */
function tellLateLink(hearing: Hearing, message: Message, link: FileUnderWay['link']): void {
  const { ear, session, writer } = hearing;
  const mediaId = mediaIdOf(message);
  void link.then((late) => {
    if (late === undefined) return;
    const change = { id: message.id, apply: (before: Message) => linked(before, mediaId, late) };
    ear.hear(() => storeAndTell(hearing, () => writer.recordUpdate(session.fence, session.channelId, change)));
  });
}

/** @param failed messages of which nothing can be stored, by their own fault */
async function storeItems(hearing: Hearing, items: readonly Item[], failed = new Set<NetworkMessage>()): Promise<void> {
  const timers = learnTimers(
    hearing,
    items.flatMap(({ read: { record, action } }) => (record ?? action?.trigger)?.message ?? []),
  );
  let records: HeardRecord[] = [];
  /** Of messages that are known only now: they do not wait. */
  const files: [MessageRecord, FileUnderWay][] = [];
  for (const { message, read } of items) {
    const { record, action, addition } = read;
    if (record) records.push({ message, record });
    if (!action && !addition) continue;
    await storeRecords(hearing, records, failed); // an action follows what it changes
    records = [];
    const added: ReadAddition = addition
      ? await readAddition(hearing, message, addition, failed)
      : { ...(action && { action }) };
    if (added.record) records.push({ message, record: added.record });
    const carrier = added.file ?? added.record;
    if (carrier) files.push(...((await hearing.downloads?.begin(hearing.session, [carrier])) ?? []));
    const change = added.action;
    if (change && !(await isolated(hearing, () => storeAction(hearing, change)))) failed.add(message);
  }
  await storeRecords(hearing, records, failed);
  if (timers.length > 0) await isolated(hearing, () => storeTimers(hearing, timers));
  for (const [{ message }, { link }] of files) tellLateLink(hearing, message, link);
  const messages = items.map(({ message }) => message);
  // What could not be stored stays in the journal, for a build that can.
  hearing.session.settle(messages.filter((message) => !failed.has(message)));
  await hearing.automatic.heard(hearing, messages);
}

function storeTimers({ session, ear, writer }: Hearing, chats: readonly ChatRecord[]): Promise<void> {
  return ear.store(() => writer.recordHistory(session.fence, session.channelId, { chats }));
}

/** One that cannot be read is reported and costs no other. */
function readOrFail({ session }: Hearing, message: NetworkMessage, people: People, failed: Set<NetworkMessage>): Read {
  try {
    return read(message, people) ?? {};
  } catch (error) {
    session.reportFault(error);
    failed.add(message);
    return {};
  }
}

interface HeardRecord {
  readonly message: NetworkMessage;
  readonly record: MessageRecord;
}

/** What a heard message turns out to be. */
interface Read {
  record?: MessageRecord;
  action?: ReceivedAction;
  /** Something that can be read only with the message it belongs to. */
  addition?: Addition;
}

function read(message: NetworkMessage, people: People): Read | undefined {
  const addition = sealedFromNetwork(message, people) ?? betterCopyFromNetwork(message, people);
  if (addition) return { addition };
  const action = actionFromNetwork(message, people);
  if (action) return { action };
  const record = messageFromNetwork(message, people);
  return record && { record };
}

async function storeRecords(
  hearing: Hearing,
  heard: readonly HeardRecord[],
  failed: Set<NetworkMessage>,
): Promise<void> {
  if (heard.length === 0) return;
  const { session } = hearing;
  const records = await quietNotices(
    hearing,
    heard.map(({ record }) => markWaited(session, record)),
  );
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

async function storeAction(hearing: Hearing, { trigger, change }: ReceivedAction): Promise<void> {
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
  message: NetworkMessage,
  addition: Addition,
  failed: Set<NetworkMessage>,
): Promise<ReadAddition> {
  const { ear, session, writer } = hearing;
  let read: ReadAddition = {};
  const isRead = await isolated(hearing, async () => {
    const target = await ear.store(() => writer.findInChat(session.channelId, addition.target));
    read = addition.read(target) ?? {};
  });
  if (!isRead) failed.add(message);
  return read;
}

/** Messages that the owner deleted on the phone, for its own devices only; or a chat that was cleared there. */
export async function hearRemovals(hearing: Hearing, removed: NetworkEvents['messagesDeleted']): Promise<void> {
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
