import { FencedError } from '@dormouse/database';
import type { MessageRecord } from '@dormouse/message-store/write';
import type { BaileysEventMap, WAMessage } from '@whiskeysockets/baileys';
import { chatIdOf } from '../convert/chat.js';
import type { ClearedChat } from '../sessions/cleared-chat.js';
import { actionFromNetwork, type HeardAction } from '../convert/change-from-network.js';
import { isGroup } from '../convert/jid.js';
import { messageFromNetwork } from '../convert/message-from-network.js';
import type { People } from '../convert/people.js';
import { pollVotedOn, voteFromNetwork } from '../convert/vote-from-network.js';
import { learnPeople } from './contacts.js';
import { convertEach, storeAndTell, type Hearing } from './hearing.js';
import { isTransient } from './transient-failure.js';
import { peopleIn, peopleInGroups } from './people-in.js';

/** So many messages of a backlog are stored together. */
const BATCH = 50;

/**
 * New messages: live ones ("notify") and those that waited while the device was offline ("append") alike; also own ones
 * from the phone and its other devices. What is no news to a person is left out.
 */
export async function hearMessages(hearing: Hearing, { messages }: BaileysEventMap['messages.upsert']): Promise<void> {
  for (let at = 0; at < messages.length; at += BATCH) {
    await hearBatch(hearing, messages.slice(at, at + BATCH));
  }
  hearing.session.settle(messages);
  await hearing.automatic.heard(hearing, messages);
}

async function hearBatch(hearing: Hearing, messages: WAMessage[]): Promise<void> {
  const { ear } = hearing;
  const people = await ear.store(() => peopleInGroups(hearing, messages));
  await learnPeople(hearing, people.numbers);
  const heard = convertEach(hearing, messages, (message) => read(message, people));
  let records: MessageRecord[] = [];
  for (const { record, action, vote } of heard) {
    if (record) records.push(record);
    if (!action && !vote) continue;
    await storeRecords(hearing, records); // an action follows what it changes
    records = [];
    if (action) await isolated(hearing, () => storeAction(hearing, action));
    if (vote) await isolated(hearing, () => storeVote(hearing, vote, people));
  }
  await storeRecords(hearing, records);
}

/** What a heard message turns out to be. */
interface Read {
  record?: MessageRecord;
  action?: HeardAction;
  /** A vote can be opened only with its poll, and the id of that. */
  vote?: { pollId: string; message: WAMessage };
}

function read(message: WAMessage, people: People): Read | undefined {
  const pollId = pollVotedOn(message, people);
  if (pollId !== undefined) return { vote: { pollId, message } };
  const action = actionFromNetwork(message, people);
  if (action) return { action };
  const record = messageFromNetwork(message, people);
  return record && { record };
}

async function storeRecords(hearing: Hearing, heard: readonly MessageRecord[]): Promise<void> {
  if (heard.length === 0) return;
  const { session, writer } = hearing;
  const marked = await quietNotices(
    hearing,
    heard.map((record) => markWaited(session, record)),
  );
  const records = (await hearing.downloads?.complete(session, marked)) ?? marked;
  const write = (some: readonly MessageRecord[]) =>
    storeAndTell(hearing, () => writer.recordMessages(session.fence, session.channelId, some));
  try {
    await write(records);
  } catch (error) {
    if (concernsAll(error)) throw error;
    for (const record of records) await isolated(hearing, () => write([record]));
  }
}

/** Group notices are `groups` events; `messages` events of them go only to channels that ask for those. */
async function quietNotices(hearing: Hearing, records: readonly MessageRecord[]): Promise<MessageRecord[]> {
  const { ear, session, wantsGroupNotices } = hearing;
  const isNotice = ({ message }: MessageRecord) => message.type === 'system' && isGroup(message.chat_id);
  if (!records.some(isNotice) || (await ear.store(() => wantsGroupNotices(session.channelId)))) return [...records];
  return records.map((record) => (isNotice(record) ? { ...record, quiet: true } : record));
}

/** A message that cannot be stored must not cost those that follow. */
async function isolated({ session }: Hearing, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (concernsAll(error)) throw error;
    session.reportFault(error);
  }
}

/** Says nothing about this message: the database is away, or another worker owns the shard. */
function concernsAll(error: unknown): boolean {
  return isTransient(error) || error instanceof FencedError;
}

async function storeAction(hearing: Hearing, { trigger, change }: HeardAction): Promise<void> {
  const { session, writer } = hearing;
  const { fence, channelId } = session;
  const record = markWaited(session, trigger);
  await storeAndTell(hearing, () =>
    change
      ? writer.recordChange(fence, channelId, { ...change, trigger: record })
      : writer.recordMessage(fence, channelId, record),
  );
}

/** What the network kept while the session was away is told so. */
function markWaited(session: Hearing['session'], record: MessageRecord): MessageRecord {
  return session.hasWaited(record) ? { ...record, waited: true } : record;
}

async function storeVote(
  hearing: Hearing,
  { pollId, message }: NonNullable<Read['vote']>,
  people: People,
): Promise<void> {
  const { ear, session, writer } = hearing;
  const poll = await ear.store(() => writer.find(session.channelId, pollId));
  const action = voteFromNetwork(message, people, poll);
  if (action) await storeAction(hearing, action);
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
