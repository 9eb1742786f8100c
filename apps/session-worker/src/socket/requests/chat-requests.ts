import type { MinimalMessage, WASocket } from '@whiskeysockets/baileys';
import { FOREVER_MS } from '../../convert/chat.js';
import { isGroup } from '../../convert/jid.js';
import type { MessageKey } from './message-requests.js';

/** A chat's last message: a change of the chat is meant up to it. */
export interface LastMessage {
  readonly key: MessageKey;
  /** Epoch seconds. */
  readonly timestampS: number;
}

export interface ChatRequests {
  setArchived(jid: string, isArchived: boolean, last: readonly LastMessage[]): Promise<void>;
  setPinned(jid: string, isPinned: boolean): Promise<void>;
  /** @param untilMs epoch milliseconds, {@link FOREVER_MS} until further notice, 0 not any more */
  mute(jid: string, untilMs: number): Promise<void>;
  /** Marks the chat as read or unread on the channel's own devices; its authors are not notified. */
  setRead(jid: string, isRead: boolean, last: readonly LastMessage[]): Promise<void>;
  delete(jid: string, last: readonly LastMessage[]): Promise<void>;
  /** Deletes one message on the channel's own devices. @param timestampS the message's, in epoch seconds */
  deleteMessage(jid: string, key: MessageKey, timestampS: number): Promise<void>;
  /** How long new messages stay in the chat, a group's too. @param seconds 0 for ever */
  setTimer(jid: string, seconds: number): Promise<void>;
}

/** The network's word for "until further notice". */
const MUTED_FOREVER = -1;

export function chatRequests(socket: WASocket): ChatRequests {
  return {
    setArchived: (jid, archive, last) => socket.chatModify({ archive, lastMessages: minimal(last) }, jid),
    setPinned: (jid, pin) => socket.chatModify({ pin }, jid),
    mute: (jid, untilMs) => {
      const mute = untilMs === 0 ? null : untilMs === FOREVER_MS ? MUTED_FOREVER : untilMs;
      return socket.chatModify({ mute }, jid);
    },
    setRead: (jid, markRead, last) => socket.chatModify({ markRead, lastMessages: minimal(last) }, jid),
    delete: (jid, last) => socket.chatModify({ delete: true, lastMessages: minimal(last) }, jid),
    deleteMessage: (jid, key, timestamp) =>
      socket.chatModify({ deleteForMe: { deleteMedia: false, key, timestamp } }, jid),
    setTimer: async (jid, seconds) => {
      if (isGroup(jid)) await socket.groupToggleEphemeral(jid, seconds);
      else await socket.sendMessage(jid, { disappearingMessagesInChat: seconds === 0 ? false : seconds });
    },
  };
}

function minimal(last: readonly LastMessage[]): MinimalMessage[] {
  return last.map(({ key, timestampS }) => ({ key, messageTimestamp: timestampS }));
}
