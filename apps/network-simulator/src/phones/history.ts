import { deflateSync } from 'node:zlib';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { sealFile } from '../media/media-crypto.js';
import { isGroupJid } from '../wire/jid.js';
import { ADDITIONS } from './content.js';
import { historyChat } from './history-chat.js';
import { additionsOf, webMessage } from './history-message.js';
import { noticesByGroup } from './history-notices.js';
import type { PhoneMessage } from './message-log.js';
import type { PhoneContext } from './phone-context.js';

const { Type } = proto.Message.ProtocolMessage;
const { HistorySyncType } = proto.HistorySync;

/** The newest messages of each chat that the first part of the history brings. */
const FIRST_PER_CHAT = 20;
/** Messages in each later part. */
const PER_PART = 1000;
/** What is older is sent to a device that requested the full history when it was linked, and to no other. */
const RECENT_SECONDS = 90 * 86_400;
/** Larger parts do not fit into a message and go through the file host, if the phone may use it. */
const INLINE_LIMIT_BYTES = 256 * 1024;

const HIDDEN_KINDS = new Set([...ADDITIONS, 'unknown']);

/**
 * What a phone sends a newly linked device, in this order: the app-state key, the newest messages of its chats, the names it
 * knows, then the rest of its recent history in parts, and then what is older if the device wants it.
 */
export function bootstrapMessages(phone: PhoneContext, { full }: { full: boolean }): proto.IMessage[] {
  const chats = chatsOf(phone);
  const first = withNotices(
    phone,
    conversations(phone, chats, (messages) => messages.slice(0, FIRST_PER_CHAT)),
  );
  const since = Number(phone.network.timestamp()) - RECENT_SECONDS;
  const recent = restInParts(chats, ({ timestamp }) => timestamp >= since);
  const older = full ? restInParts(chats, ({ timestamp }) => timestamp < since) : [];
  const parts = [
    ...recent.map((part) => ({ part, syncType: HistorySyncType.RECENT })),
    ...older.map((part) => ({ part, syncType: HistorySyncType.FULL })),
  ];
  return [
    keyShare(phone),
    notification(phone, {
      ...first,
      syncType: HistorySyncType.INITIAL_BOOTSTRAP,
      chunkOrder: 1,
      progress: parts.length ? 10 : 100,
    }),
    notification(phone, names(phone)),
    ...parts.map(({ part, syncType }, index) => {
      const progress = Math.floor(((index + 1) / parts.length) * 100);
      const sync = { syncType, chunkOrder: index + 2, progress };
      return notification(phone, { ...conversations(phone, part, (messages) => messages), ...sync });
    }),
  ];
}

/** The key under which the account's devices share state. */
export function keyShare(phone: PhoneContext): proto.IMessage {
  const { key } = phone.account.appState();
  const fingerprint = { rawId: phone.account.state.advRawId, currentIndex: 1, deviceIndexes: [0] };
  const keyData = { keyData: key.data, fingerprint, timestamp: key.timestampMs };
  return {
    protocolMessage: {
      type: Type.APP_STATE_SYNC_KEY_SHARE,
      appStateSyncKeyShare: { keys: [{ keyId: { keyId: key.id }, keyData }] },
    },
  };
}

/** Messages of one chat older than a given one, for a companion that requested them. */
export function olderMessages(
  phone: PhoneContext,
  request: proto.Message.PeerDataOperationRequestMessage.IHistorySyncOnDemandRequest,
  requestId: string,
): proto.IMessage {
  const chat = phone.network.accounts.find(request.chatJid ?? '')?.phoneJid ?? request.chatJid ?? '';
  const all = chatsOf(phone).get(chat) ?? [];
  const from = all.findIndex(({ id }) => id === request.oldestMsgId);
  const older = from < 0 ? all : all.slice(from + 1);
  const wanted = new Map([[chat, older.slice(0, request.onDemandMsgCount ?? 50)]]);
  const sync = {
    ...conversations(phone, wanted, (messages) => messages),
    syncType: HistorySyncType.ON_DEMAND,
    chunkOrder: 1,
    progress: 100,
  };
  return notification(phone, sync, { peerDataRequestSessionId: requestId });
}

/** Messages by chat, newest first. */
function chatsOf(phone: PhoneContext): Map<string, PhoneMessage[]> {
  const chats = new Map<string, PhoneMessage[]>();
  for (const message of phone.messages.all()) {
    if (HIDDEN_KINDS.has(message.type) && !message.deleted) continue;
    const messages = chats.get(message.chat);
    if (messages) messages.push(message);
    else chats.set(message.chat, [message]);
  }
  for (const messages of chats.values())
    messages.sort((a, b) => b.timestamp - a.timestamp || b.receivedSeq - a.receivedSeq);
  return chats;
}

/** What follows the first messages of each chat, as far as it is wanted. */
function restInParts(
  chats: Map<string, PhoneMessage[]>,
  wanted: (message: PhoneMessage) => boolean,
): Map<string, PhoneMessage[]>[] {
  const parts: Map<string, PhoneMessage[]>[] = [];
  let part = new Map<string, PhoneMessage[]>();
  let size = 0;
  for (const [chat, all] of chats) {
    const messages = all.slice(FIRST_PER_CHAT).filter(wanted);
    for (let at = 0; at < messages.length;) {
      const taken = messages.slice(at, at + PER_PART - size);
      part.set(chat, taken);
      at += taken.length;
      size += taken.length;
      if (size < PER_PART) continue;
      parts.push(part);
      part = new Map();
      size = 0;
    }
  }
  return size > 0 ? [...parts, part] : parts;
}

function conversations(
  phone: PhoneContext,
  chats: Map<string, PhoneMessage[]>,
  pick: (messages: PhoneMessage[]) => PhoneMessage[],
): Pick<proto.IHistorySync, 'conversations' | 'phoneNumberToLidMappings'> {
  const { network } = phone;
  const additions = additionsOf(phone);
  return {
    conversations: [...chats].map(([id, messages]) => ({
      ...historyChat(phone, id, messages),
      messages: pick(messages).map((message) => ({
        msgOrderId: message.receivedSeq,
        message: webMessage(phone, message, additions),
      })),
    })),
    phoneNumberToLidMappings: [...chats.keys()].flatMap((chat) => {
      const account = isGroupJid(chat) ? undefined : network.accounts.find(chat);
      return account ? [{ pnJid: account.phoneJid, lidJid: account.lidJid }] : [];
    }),
  };
}

/** The first part of a history with what happened in groups; a group in which nobody has written yet is there, too. */
function withNotices(
  phone: PhoneContext,
  { conversations: chats = [], ...rest }: Pick<proto.IHistorySync, 'conversations' | 'phoneNumberToLidMappings'>,
): Pick<proto.IHistorySync, 'conversations' | 'phoneNumberToLidMappings'> {
  const notices = noticesByGroup(phone);
  const silent = [...notices.keys()].filter((group) => !chats?.some(({ id }) => id === group));
  const all = [...(chats ?? []), ...silent.map((group) => ({ ...historyChat(phone, group, []), messages: [] }))];
  const conversations = all.map((chat): proto.IConversation => {
    const ofChat = notices.get(chat.id ?? '') ?? [];
    const messages = [...(chat.messages ?? []), ...ofChat.map((message) => ({ message }))];
    const at = ({ message }: proto.IHistorySyncMsg): number => Number(message?.messageTimestamp ?? 0);
    messages.sort((a, b) => at(b) - at(a));
    const [newest] = messages;
    return { ...chat, messages, ...(newest && { conversationTimestamp: at(newest) }) };
  });
  return { ...rest, conversations };
}

function names(phone: PhoneContext): proto.IHistorySync {
  const known = new Map<string, string>();
  for (const message of phone.messages.all({ fromMe: false })) {
    if (message.pushName !== undefined) known.set(message.from, message.pushName);
  }
  return {
    syncType: HistorySyncType.PUSH_NAME,
    chunkOrder: 1,
    progress: 100,
    pushnames: [...known].map(([id, pushname]) => ({ id, pushname })),
  };
}

/** Wraps a part of the history: within the message, or as a file when it is large and the phone may. */
function notification(
  phone: PhoneContext,
  sync: proto.IHistorySync,
  extra: proto.Message.IHistorySyncNotification = {},
): proto.IMessage {
  const packed = deflateSync(proto.HistorySync.encode(sync).finish());
  const asFile =
    phone.settings.historyFiles &&
    packed.length > 0 &&
    (phone.settings.historyFiles === 'always' || packed.length > INLINE_LIMIT_BYTES);
  const content = asFile ? asExternalFile(phone, packed) : { initialHistBootstrapInlinePayload: packed };
  const { chunkOrder, progress } = sync;
  return {
    protocolMessage: {
      type: Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: { syncType: Number(sync.syncType), chunkOrder, progress, ...content, ...extra },
    },
  };
}

function asExternalFile(phone: PhoneContext, packed: Buffer): proto.Message.IHistorySyncNotification {
  const { mediaKey, sealed, fileSha256, fileEncSha256, fileLength } = sealFile(packed, 'History');
  return {
    mediaKey,
    fileSha256,
    fileEncSha256,
    fileLength,
    directPath: phone.network.media.put(sealed, phone.account.phone),
  };
}
