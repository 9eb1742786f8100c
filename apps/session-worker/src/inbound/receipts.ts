import type { StatusReport } from '@dormouse/message-store/write';
import { statusFromNetwork } from '../convert/message-from-network.js';
import { contactOf, isOwn } from '../convert/people.js';
import { toNumber } from '../convert/present.js';
import { refusalOf } from '../convert/refusal.js';
import type { MessageUpdate, NetworkEvents } from '../socket/network-events.js';
import { storeAndTell, type Hearing } from './hearing.js';
import { peopleInGroups } from './people-in.js';

/** Receipts of chats of two, and refusals of own messages. Edits and deletions come as messages of their own, too. */
export async function hearUpdates(hearing: Hearing, updates: NetworkEvents['messagesChanged']): Promise<void> {
  await storeReports(
    hearing,
    updates.flatMap((update) => reportOf(update, hearing.now())),
  );
  const read = updates.filter(({ key, update }) => key.fromMe !== true && statusFromNetwork(update.status) === 'read');
  await storeRead(
    hearing,
    read.map(({ key }) => key.id),
  );
}

/** Receipts of groups: one for each member. */
export async function hearGroupReceipts(hearing: Hearing, receipts: NetworkEvents['groupReceipts']): Promise<void> {
  const people = await hearing.ear.store(() => peopleInGroups(hearing, receipts));
  const reports: StatusReport[] = [];
  const read: string[] = [];
  for (const { key, receipt } of receipts) {
    const viewerId = contactOf(receipt.userJid, people);
    const readS = toNumber(receipt.readTimestamp);
    const timestamp = readS ?? toNumber(receipt.receiptTimestamp);
    if (!key.id || viewerId === undefined || timestamp === undefined) continue;
    if (isOwn(receipt.userJid, people)) {
      if (readS !== undefined) read.push(key.id);
    } else {
      const isPlayed = hearing.session.takePlayed(key, receipt.userJid);
      const status = isPlayed ? 'played' : readS === undefined ? 'delivered' : 'read';
      reports.push({ keyId: key.id, status, viewerId, timestamp });
    }
  }
  await storeReports(hearing, reports);
  await storeRead(hearing, read);
}

function reportOf({ key, update }: MessageUpdate, nowMs: number): StatusReport[] {
  if (key.fromMe !== true || !key.id) return [];
  const status = statusFromNetwork(update.status);
  const timestamp = toNumber(update.messageTimestamp) || Math.floor(nowMs / 1_000);
  const { id: keyId } = key;
  switch (status) {
    case 'failed': {
      const parameters: unknown = update.messageStubParameters;
      const code: unknown = Array.isArray(parameters) ? parameters[0] : undefined;
      return [{ keyId, status, timestamp, errors: [refusalOf(typeof code === 'string' ? code : undefined)] }];
    }
    case 'sent':
    case 'delivered':
    case 'read':
    case 'played':
      return [{ keyId, status, timestamp }];
    default:
      return [];
  }
}

async function storeReports(hearing: Hearing, reports: readonly StatusReport[]): Promise<void> {
  if (reports.length === 0) return;
  const { fence, channelId } = hearing.session;
  await storeAndTell(hearing, () => hearing.writer.recordStatuses(fence, channelId, reports));
}

/** The owner read messages on the phone or on another device. */
async function storeRead(
  { session, ear, writer }: Hearing,
  ids: readonly (string | null | undefined)[],
): Promise<void> {
  const keyIds = ids.filter((id) => typeof id === 'string');
  if (keyIds.length === 0) return;
  await ear.store(() => writer.recordRead(session.fence, session.channelId, keyIds));
}
