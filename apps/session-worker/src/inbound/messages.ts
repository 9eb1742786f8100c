import { FencedError } from '@dormouse/database';
import type { MessageRecord } from '@dormouse/message-store/write';
import type { BaileysEventMap, WAMessage } from '@whiskeysockets/baileys';
import { actionFromNetwork, type HeardAction } from '../convert/change-from-network.js';
import { messageFromNetwork } from '../convert/message-from-network.js';
import type { People } from '../convert/people.js';
import { convertEach, storeAndTell, type Hearing } from './hearing.js';
import { isTransient } from './transient-failure.js';
import { peopleIn } from './people-in.js';

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
}

async function hearBatch(hearing: Hearing, messages: WAMessage[]): Promise<void> {
  const { session, ear } = hearing;
  const people = await ear.store(() => peopleIn(session, messages));
  const heard = convertEach(hearing, messages, (message) => read(message, people));
  let records: MessageRecord[] = [];
  for (const { record, action } of heard) {
    if (record) records.push(record);
    if (!action) continue;
    await storeRecords(hearing, records); // an action follows what it changes
    records = [];
    await isolated(hearing, () => storeAction(hearing, action));
  }
  await storeRecords(hearing, records);
}

function read(message: WAMessage, people: People): { record?: MessageRecord; action?: HeardAction } | undefined {
  const action = actionFromNetwork(message, people);
  if (action) return { action };
  const record = messageFromNetwork(message, people);
  return record && { record };
}

async function storeRecords(hearing: Hearing, records: readonly MessageRecord[]): Promise<void> {
  if (records.length === 0) return;
  const { session, writer } = hearing;
  const write = (some: readonly MessageRecord[]) =>
    storeAndTell(hearing, () => writer.recordMessages(session.fence, session.channelId, some));
  try {
    await write(records);
  } catch (error) {
    if (concernsAll(error)) throw error;
    for (const record of records) await isolated(hearing, () => write([record]));
  }
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
  const { fence, channelId } = hearing.session;
  await storeAndTell(hearing, () =>
    change
      ? hearing.writer.recordChange(fence, channelId, change)
      : hearing.writer.recordMessage(fence, channelId, trigger),
  );
}
