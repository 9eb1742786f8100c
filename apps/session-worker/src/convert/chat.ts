import type { ChatRecord } from '@dormouse/message-store/write';
import type { Chat, ChatUpdate } from '@whiskeysockets/baileys';
import { chatIdOfKey, personChatId, readJid, type KnownNumbers } from './jid.js';
import { toNumber } from './present.js';

/** Shown for "muted until further notice": the end of the year 9999, in epoch milliseconds. */
export const FOREVER_MS = 253_402_300_799_000;

/** The chat id for a chat of the network. */
export function chatIdOf(
  chat: { id?: string | null; pnJid?: string | null; lidJid?: string | null },
  numbers: KnownNumbers,
): string | undefined {
  const isPerson = readJid(chat.id)?.server !== 'g.us';
  return isPerson ? personChatId([chat.id, chat.pnJid, chat.lidJid], numbers) : chatIdOfKey({ remoteJid: chat.id });
}

/** Reads a chat of the phone's history. */
export function chatFromHistory(chat: Chat, numbers: KnownNumbers): ChatRecord | undefined {
  const id = chatIdOf(chat, numbers);
  if (id === undefined) return undefined;
  const timestamp = toNumber(chat.conversationTimestamp);
  const name = chat.name ?? chat.displayName;
  return {
    id,
    ...(name && { name }),
    ...(timestamp !== undefined && { timestamp }),
    ...(typeof chat.unreadCount === 'number' && chat.unreadCount >= 0 && { unread: chat.unreadCount }),
    ...(chat.unreadCount === -1 && { markedUnread: true }),
    ...states(chat),
    ...timerOf(chat),
  };
}

/** The chat's timer for disappearing messages, as the phone's history has it. */
function timerOf({ ephemeralExpiration: seconds, ephemeralSettingTimestamp: setAt }: Chat): Partial<ChatRecord> {
  if (typeof seconds !== 'number' || seconds < 0) return {};
  return { timer: { seconds, setAtS: toNumber(setAt) ?? 0 } };
}

/**
 * Reads an update of a chat. Its counts of unread messages are increments, which the messages themselves account for;
 * only "all read" and "marked as unread" are taken from it.
 * @returns undefined when nothing changed that is stored
 */
export function chatFromUpdate(update: ChatUpdate, numbers: KnownNumbers): ChatRecord | undefined {
  const id = chatIdOf(update, numbers);
  if (id === undefined) return undefined;
  const record: ChatRecord = {
    id,
    ...(update.name && { name: update.name }),
    ...(update.unreadCount === 0 && { unread: 0 }),
    ...(update.unreadCount === -1 && { markedUnread: true }),
    ...states(update),
  };
  return Object.keys(record).length > 1 ? record : undefined;
}

function states(chat: Pick<ChatUpdate, 'archived' | 'pinned' | 'muteEndTime'>): Partial<ChatRecord> {
  return {
    ...(typeof chat.archived === 'boolean' && { archived: chat.archived }),
    ...(chat.pinned !== undefined && { pinned: Boolean(chat.pinned) }),
    ...(chat.muteEndTime !== undefined && { muteUntilMs: muteUntilMs(toNumber(chat.muteEndTime)) }),
  };
}

/**
 * History counts in seconds, updates in milliseconds; -1 is "until further notice", and in the history's unsigned field the
 * largest number.
 */
function muteUntilMs(end: number | undefined): number {
  if (end === undefined || end === 0) return 0;
  if (end < 0 || end > FOREVER_MS) return FOREVER_MS;
  return end < 1e12 ? end * 1_000 : end;
}
