/** States of chats as the phone shares them with its devices: archived, pinned, muted, read, deleted. */
import type { ChatRecord } from '@dormouse/message-store/write';
import { chatFromUpdate, chatIdOf } from '../convert/chat.js';
import type { ChatChange, NetworkEvents } from '../socket/network-events.js';
import { convertEach, storeAndNotify, type InboundContext } from './inbound-context.js';
import { resolveLids } from './resolve-lids.js';

export async function handleChats(inbound: InboundContext, chats: readonly ChatChange[]): Promise<void> {
  const ids = chats.map(({ id }) => id);
  const { numbers } = await inbound.queue.store(() => resolveLids(inbound.session, ids));
  await storeChats(
    inbound,
    convertEach(inbound, chats, (chat) => {
      const record = chatFromUpdate(chat, numbers);
      const readUntilS = chat.id ? inbound.session.readUntilS(chat.id) : undefined;
      if (record?.unread !== 0 || readUntilS === undefined) return record;
      const { unread: _all, ...others } = record;
      return { ...others, readUntilS };
    }),
  );
}

/** Chats that were deleted on the phone. */
export async function handleDeletedChats(inbound: InboundContext, ids: readonly string[]): Promise<void> {
  const { session, queue, chats } = inbound;
  const { numbers } = await queue.store(() => resolveLids(session, ids));
  await session.forgetSettled();
  for (const id of ids) {
    const chatId = chatIdOf({ id }, numbers);
    if (chatId === undefined) continue;
    const untilS = session.deletedUntilS(id);
    await storeAndNotify(inbound, () => chats.deleteChat(session.fence, session.channelId, chatId, untilS));
    await queue.store(() => chats.finishRemovals(session.fence, session.channelId));
  }
}

/**
 * The phone gives a new device its whole state; what is stored of an earlier device's chats may be outdated. What was stored
 * for another number belongs to no channel any more.
 */
export async function handleNewDevice(
  { session, queue, chats }: InboundContext,
  { isNewLogin }: NetworkEvents['connection'],
): Promise<void> {
  if (!isNewLogin) return;
  const { fence, channelId, identity } = session;
  await queue.store(() => chats.beginNumber(fence, channelId, identity.phone));
  await queue.store(() => chats.forgetChatStates(fence, channelId));
}

export async function storeChats(inbound: InboundContext, records: readonly ChatRecord[]): Promise<void> {
  if (records.length === 0) return;
  const { session, queue, writer, chats, settled } = inbound;
  const { fence, channelId } = session;
  if (settled) await storeAndNotify(inbound, () => chats.recordChats(fence, channelId, records));
  else await queue.store(() => writer.recordHistory(fence, channelId, { chats: records }));
}
