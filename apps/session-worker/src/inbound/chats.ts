/** States of chats as the phone shares them with its devices: archived, pinned, muted, read, deleted. */
import type { ChatRecord } from '@dormouse/message-store/write';
import { chatFromUpdate, chatIdOf } from '../convert/chat.js';
import type { ChatChange, NetworkEvents } from '../socket/network-events.js';
import { convertEach, storeAndTell, type Hearing } from './hearing.js';
import { peopleIn } from './people-in.js';

export async function hearChats(hearing: Hearing, chats: readonly ChatChange[]): Promise<void> {
  const ids = chats.map(({ id }) => id);
  const { numbers } = await hearing.ear.store(() => peopleIn(hearing.session, ids));
  await storeChats(
    hearing,
    convertEach(hearing, chats, (chat) => {
      const record = chatFromUpdate(chat, numbers);
      const readUntilS = chat.id ? hearing.session.readUntilS(chat.id) : undefined;
      if (record?.unread !== 0 || readUntilS === undefined) return record;
      const { unread: _all, ...others } = record;
      return { ...others, readUntilS };
    }),
  );
}

/** Chats that were deleted on the phone. */
export async function hearChatsGone(hearing: Hearing, ids: readonly string[]): Promise<void> {
  const { session, ear, chats } = hearing;
  const { numbers } = await ear.store(() => peopleIn(session, ids));
  await session.forgetSettled();
  for (const id of ids) {
    const chatId = chatIdOf({ id }, numbers);
    if (chatId === undefined) continue;
    const untilS = session.deletedUntilS(id);
    await storeAndTell(hearing, () => chats.deleteChat(session.fence, session.channelId, chatId, untilS));
    await ear.store(() => chats.finishRemovals(session.fence, session.channelId));
  }
}

/**
 * The phone tells a new device all that it knows; what an earlier one was told of its chats may be over. What was stored
 * for another number is nobody's any more.
 */
export async function hearNewDevice(
  { session, ear, chats }: Hearing,
  { isNewLogin }: NetworkEvents['connection'],
): Promise<void> {
  if (!isNewLogin) return;
  const { fence, channelId, identity } = session;
  await ear.store(() => chats.beginNumber(fence, channelId, identity.phone));
  await ear.store(() => chats.forgetChatStates(fence, channelId));
}

export async function storeChats(hearing: Hearing, records: readonly ChatRecord[]): Promise<void> {
  if (records.length === 0) return;
  const { session, ear, writer, chats, settled } = hearing;
  const { fence, channelId } = session;
  if (settled) await storeAndTell(hearing, () => chats.recordChats(fence, channelId, records));
  else await ear.store(() => writer.recordHistory(fence, channelId, { chats: records }));
}
