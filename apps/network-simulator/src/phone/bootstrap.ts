import { deflateSync } from 'node:zlib';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { decodeContent } from './content.js';
import type { PhoneMessage } from './message-log.js';
import type { Phone } from './phone.js';

const { Type } = proto.Message.ProtocolMessage;
const { HistorySyncType } = proto.HistorySync;

/** What a phone tells a newly linked device, in this order: the app-state key, its recent chats, the names it knows. */
export function bootstrapMessages(phone: Phone): proto.IMessage[] {
  const { key } = phone.account.appState();
  const keyShare: proto.IMessage = {
    protocolMessage: {
      type: Type.APP_STATE_SYNC_KEY_SHARE,
      appStateSyncKeyShare: {
        keys: [
          {
            keyId: { keyId: key.id },
            keyData: {
              keyData: key.data,
              fingerprint: { rawId: phone.account.state.advRawId, currentIndex: 1, deviceIndexes: [0] },
              timestamp: key.timestampMs,
            },
          },
        ],
      },
    },
  };
  return [keyShare, history(recentChats(phone)), history(names(phone))];
}

function history(sync: proto.IHistorySync): proto.IMessage {
  const { syncType } = sync;
  return {
    protocolMessage: {
      type: Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: {
        syncType: Number(syncType),
        chunkOrder: 1,
        progress: 100,
        initialHistBootstrapInlinePayload: deflateSync(proto.HistorySync.encode(sync).finish()),
      },
    },
  };
}

function recentChats(phone: Phone): proto.IHistorySync {
  const chats = new Map<string, PhoneMessage[]>();
  for (const message of phone.messages.all()) {
    if (message.type === 'protocol') continue;
    chats.set(message.chat, [...(chats.get(message.chat) ?? []), message]);
  }
  return {
    syncType: HistorySyncType.INITIAL_BOOTSTRAP,
    chunkOrder: 1,
    progress: 100,
    conversations: [...chats].map(([id, messages]) => ({
      id,
      conversationTimestamp: messages.at(-1)?.timestamp ?? 0,
      unreadCount: messages.filter(({ fromMe, status }) => !fromMe && status === 'delivered').length,
      // Newest first, as the network sends them.
      messages: messages.reverse().map((message, index) => ({
        msgOrderId: messages.length - index,
        message: {
          key: { remoteJid: message.chat, fromMe: message.fromMe, id: message.id },
          message: decodeContent(message.content),
          messageTimestamp: message.timestamp,
          ...(message.pushName !== undefined && { pushName: message.pushName }),
        },
      })),
    })),
    phoneNumberToLidMappings: [...chats.keys()].flatMap((chat) => {
      const account = phone.network.accounts.find(chat);
      return account ? [{ pnJid: account.phoneJid, lidJid: account.lidJid }] : [];
    }),
  };
}

function names(phone: Phone): proto.IHistorySync {
  const known = new Map<string, string>();
  for (const message of phone.messages.all({ fromMe: false })) {
    if (message.pushName !== undefined) known.set(message.from, message.pushName);
  }
  return {
    syncType: HistorySyncType.PUSH_NAME,
    pushnames: [...known].map(([id, pushname]) => ({ id, pushname })),
  };
}
