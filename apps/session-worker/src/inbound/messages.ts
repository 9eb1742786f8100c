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
import { storeAndNotify, type InboundContext } from './inbound-context.js';
import { resolveLids, resolveLidsInGroups } from './resolve-lids.js';

/** How many messages of a backlog are stored together at most. */
const BATCH = 50;

/**
 * New messages: live ones ("notify") and those that waited while the device was offline ("append") alike; also own ones
 * from the phone and its other devices. What is no news to a person is left out.
 */
export async function handleMessages(inbound: InboundContext, { messages }: NetworkEvents['messages']): Promise<void> {
  for (let at = 0; at < messages.length; at += BATCH) await handleBatch(inbound, messages.slice(at, at + BATCH));
}

/** Stores what need not wait for a file, nor for what does in its chat; see waiting-chats.ts. */
async function handleBatch(inbound: InboundContext, messages: NetworkMessage[]): Promise<void> {
  const { queue, session, downloads, waiting } = inbound;
  const people = await queue.store(() => resolveLidsInGroups(inbound, messages));
  await isolated(inbound, () => learnPeople(inbound, people.numbers));
  const failed = new Set<NetworkMessage>();
  const items = messages.map((message) => ({ message, read: readOrFail(inbound, message, people, failed) }));
  const records = items.flatMap(({ read: { record } }) => record ?? []);
  const files = await downloads?.begin(session, records);
  const now = items.filter((item) => {
    const file = item.read.record && files?.get(item.read.record);
    const chatId = chatOf(item, people);
    if (chatId === undefined || !(file || waiting.has(chatId))) return true;
    waiting.add(chatId, {
      ready: file?.waited ?? Promise.resolve(),
      store: () => (file ? storeWithFile(inbound, item, file) : storeItems(inbound, [item])),
    });
    return false;
  });
  await storeItems(inbound, now, failed);
}

/** A received message, and what it turned out to be. */
interface Item {
  readonly message: NetworkMessage;
  readonly read: Read;
}

/** The chat that an item belongs to, as customers see it. */
function chatOf({ message, read: { record, action } }: Item, people: People): string | undefined {
  const chatId = record?.message.chat_id ?? action?.trigger.message.chat_id;
  return chatId ?? chatIdOf({ id: message.key.remoteJid }, people.numbers);
}

/** Stores a message with a link to its file when that is there; else the link follows by an event of its own. */
async function storeWithFile(inbound: InboundContext, item: Item, { link }: FileUnderWay): Promise<void> {
  const { record } = item.read;
  if (!record) return;
  const { message } = record;
  const there = await Promise.race([link, Promise.resolve(undefined)]);
  const shown = there === undefined ? undefined : linked(message, mediaIdOf(message), there);
  await storeItems(inbound, [{ ...item, read: { record: { ...record, message: shown ?? message } } }]);
  if (there === undefined) notifyLateLink(inbound, message, link);
}

/** Notifies of the link to a file that came after its message was stored. */
function notifyLateLink(inbound: InboundContext, message: Message, link: FileUnderWay['link']): void {
  const { queue, session, writer } = inbound;
  const mediaId = mediaIdOf(message);
  void link.then((late) => {
    if (late === undefined) return;
    const change = { id: message.id, apply: (before: Message) => linked(before, mediaId, late) };
    queue.enqueue(() => storeAndNotify(inbound, () => writer.recordUpdate(session.fence, session.channelId, change)));
  });
}

/** @param failed messages of which nothing can be stored, by their own fault */
async function storeItems(
  inbound: InboundContext,
  items: readonly Item[],
  failed = new Set<NetworkMessage>(),
): Promise<void> {
  const timers = learnTimers(
    inbound,
    items.flatMap(({ read: { record, action } }) => (record ?? action?.trigger)?.message ?? []),
  );
  let records: ReceivedRecord[] = [];
  /** Of messages that are known only now: they do not wait. */
  const files: [MessageRecord, FileUnderWay][] = [];
  for (const { message, read } of items) {
    const { record, action, addition } = read;
    if (record) records.push({ message, record });
    if (!action && !addition) continue;
    await storeRecords(inbound, records, failed); // an action follows what it changes
    records = [];
    const added: ReadAddition = addition
      ? await readAddition(inbound, message, addition, failed)
      : { ...(action && { action }) };
    if (added.record) records.push({ message, record: added.record });
    const carrier = added.file ?? added.record;
    if (carrier) files.push(...((await inbound.downloads?.begin(inbound.session, [carrier])) ?? []));
    const change = added.action;
    if (change && !(await isolated(inbound, () => storeAction(inbound, change)))) failed.add(message);
  }
  await storeRecords(inbound, records, failed);
  if (timers.length > 0) await isolated(inbound, () => storeTimers(inbound, timers));
  for (const [{ message }, { link }] of files) notifyLateLink(inbound, message, link);
  const messages = items.map(({ message }) => message);
  // What could not be stored stays in the journal, for a build that can.
  inbound.session.settle(messages.filter((message) => !failed.has(message)));
  await inbound.autoBehaviours.received(inbound, messages);
}

function storeTimers({ session, queue, writer }: InboundContext, chats: readonly ChatRecord[]): Promise<void> {
  return queue.store(() => writer.recordHistory(session.fence, session.channelId, { chats }));
}

/** One that cannot be read is reported and costs no other. */
function readOrFail(
  { session }: InboundContext,
  message: NetworkMessage,
  people: People,
  failed: Set<NetworkMessage>,
): Read {
  try {
    return read(message, people) ?? {};
  } catch (error) {
    session.reportFault(error);
    failed.add(message);
    return {};
  }
}

interface ReceivedRecord {
  readonly message: NetworkMessage;
  readonly record: MessageRecord;
}

/** What a received message turns out to be. */
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
  inbound: InboundContext,
  received: readonly ReceivedRecord[],
  failed: Set<NetworkMessage>,
): Promise<void> {
  if (received.length === 0) return;
  const { session } = inbound;
  const records = await quietNotices(
    inbound,
    received.map(({ record }) => markWaited(session, record)),
  );
  try {
    await writeRecords(inbound, records);
  } catch (error) {
    if (concernsAll(error)) throw error;
    for (const [index, record] of records.entries()) {
      const message = received[index]?.message;
      const stored = await isolated(inbound, () => writeRecords(inbound, [record]));
      if (!stored && message && !(await isolated(inbound, () => writeRecords(inbound, [bare(record)])))) {
        failed.add(message);
      }
    }
  }
}

/** Group notices are `groups` events; `messages` events of them go only to channels that want those. */
async function quietNotices(inbound: InboundContext, records: readonly MessageRecord[]): Promise<MessageRecord[]> {
  const { queue, session, wantsGroupNotices } = inbound;
  const isNotice = ({ message }: MessageRecord) => message.type === 'system' && isGroup(message.chat_id);
  if (!records.some(isNotice) || (await queue.store(() => wantsGroupNotices(session.channelId)))) return [...records];
  return records.map((record) => (isNotice(record) ? { ...record, quiet: true } : record));
}

function writeRecords(inbound: InboundContext, records: readonly MessageRecord[]): Promise<void> {
  const { session, writer } = inbound;
  return storeAndNotify(inbound, () => writer.recordMessages(session.fence, session.channelId, records));
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
async function isolated({ session }: InboundContext, write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (concernsAll(error)) throw error;
    session.reportFault(error);
    return false;
  }
}

/** No fault of this message: the database is away, or another worker owns the shard. */
function concernsAll(error: unknown): boolean {
  return isStoreAway(error) || error instanceof FencedError;
}

async function storeAction(inbound: InboundContext, { trigger, change }: ReceivedAction): Promise<void> {
  const { session, writer } = inbound;
  const { fence, channelId } = session;
  const record = markWaited(session, trigger);
  const writeTrigger = () => storeAndNotify(inbound, () => writer.recordMessage(fence, channelId, record));
  if (!change) return writeTrigger();
  try {
    await storeAndNotify(inbound, () => writer.recordChange(fence, channelId, { ...change, trigger: record }));
  } catch (error) {
    if (concernsAll(error)) throw error;
    session.reportFault(error);
    await writeTrigger(); // the change cannot be made; that it was requested is an event
  }
}

/** Messages that the network kept while the session was away are marked so. */
function markWaited(session: InboundContext['session'], record: MessageRecord): MessageRecord {
  return session.hasWaited(record) ? { ...record, waited: true } : record;
}

/** Reads what can be read only with the message that it belongs to. */
async function readAddition(
  inbound: InboundContext,
  message: NetworkMessage,
  addition: Addition,
  failed: Set<NetworkMessage>,
): Promise<ReadAddition> {
  const { queue, session, writer } = inbound;
  let read: ReadAddition = {};
  const isRead = await isolated(inbound, async () => {
    const target = await queue.store(() => writer.findInChat(session.channelId, addition.target));
    read = addition.read(target) ?? {};
  });
  if (!isRead) failed.add(message);
  return read;
}

/** Messages that the owner deleted on the phone, for its own devices only; or a chat that was cleared there. */
export async function handleRemovals(
  inbound: InboundContext,
  removed: NetworkEvents['messagesDeleted'],
): Promise<void> {
  const { fence, channelId } = inbound.session;
  if (!('keys' in removed)) return handleClearedChat(inbound, removed);
  const keyIds = removed.keys.flatMap(({ id }) => id ?? []);
  await storeAndNotify(inbound, () => inbound.writer.recordRemoval(fence, channelId, keyIds));
}

async function handleClearedChat(inbound: InboundContext, { jid, untilS }: ClearedChat): Promise<void> {
  const { session, queue, chats } = inbound;
  const { numbers } = await queue.store(() => resolveLids(session, [jid]));
  const chatId = chatIdOf({ id: jid }, numbers);
  if (chatId === undefined) return;
  await session.forgetSettled();
  await storeAndNotify(inbound, () => chats.clearChat(session.fence, session.channelId, chatId, untilS));
  await queue.store(() => chats.finishRemovals(session.fence, session.channelId));
}
