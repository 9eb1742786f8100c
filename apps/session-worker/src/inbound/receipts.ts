import type { StatusReport } from '@dormouse/message-store/write';
import { statusFromNetwork } from '../convert/message-from-network.js';
import { contactOf, isOwn } from '../convert/people.js';
import { toNumber } from '../convert/present.js';
import { refusalOf } from '../convert/refusal.js';
import type { MessageUpdate, NetworkEvents } from '../socket/network-events.js';
import { storeAndNotify, type InboundContext } from './inbound-context.js';
import { resolveLidsInGroups } from './resolve-lids.js';

/** Receipts of chats of two, and refusals of own messages. Edits and deletions come as messages of their own, too. */
export async function handleMessageUpdates(
  inbound: InboundContext,
  updates: NetworkEvents['messagesChanged'],
): Promise<void> {
  await storeReports(
    inbound,
    updates.flatMap((update) => reportOf(update, inbound.now())),
  );
  const read = updates.filter(({ key, update }) => key.fromMe !== true && statusFromNetwork(update.status) === 'read');
  await storeRead(
    inbound,
    read.map(({ key }) => key.id),
  );
}

/** Receipts of groups: one for each member. */
export async function handleGroupReceipts(
  inbound: InboundContext,
  receipts: NetworkEvents['groupReceipts'],
): Promise<void> {
  const people = await inbound.queue.store(() => resolveLidsInGroups(inbound, receipts));
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
      const isPlayed = inbound.session.takePlayed(key, receipt.userJid);
      const status = isPlayed ? 'played' : readS === undefined ? 'delivered' : 'read';
      reports.push({ keyId: key.id, status, viewerId, timestamp });
    }
  }
  await storeReports(inbound, reports);
  await storeRead(inbound, read);
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

async function storeReports(inbound: InboundContext, reports: readonly StatusReport[]): Promise<void> {
  if (reports.length === 0) return;
  const { fence, channelId } = inbound.session;
  await storeAndNotify(inbound, () => inbound.writer.recordStatuses(fence, channelId, reports));
}

/** The owner read messages on the phone or on another device. */
async function storeRead(
  { session, queue, writer }: InboundContext,
  ids: readonly (string | null | undefined)[],
): Promise<void> {
  const keyIds = ids.filter((id) => typeof id === 'string');
  if (keyIds.length === 0) return;
  await queue.store(() => writer.recordRead(session.fence, session.channelId, keyIds));
}
