import type { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import type { OpenedChange } from '../shared-state/read.js';
import { chatName } from './chat-name.js';
import type { ChatSettings, PhoneContext } from './phone-context.js';

type Effect = (phone: PhoneContext, index: string[], value: proto.ISyncActionValue) => void;

const onChat =
  (change: (value: proto.ISyncActionValue, nowMs: number) => Partial<ChatSettings>): Effect =>
  (phone, [, jid = ''], value) => {
    const chat = chatName(phone.network, jid);
    phone.shared.chats[chat] = { ...phone.shared.chats[chat], ...change(value, phone.network.now()) };
  };

/** The last message that a change of a whole chat is about; without one it is about all that is there. */
function until(range: proto.SyncActionValue.ISyncActionMessageRange | null | undefined): { untilSeconds?: number } {
  const seconds = Number(range?.lastMessageTimestamp ?? 0);
  return seconds > 0 ? { untilSeconds: seconds } : {};
}

/** What each kind of change does on the phone, by the first word of its index. */
const effects: Record<string, Effect> = {
  archive: onChat(({ archiveChatAction }) => ({ archived: archiveChatAction?.archived ?? false })),
  pin_v1: onChat(({ pinAction, timestamp }) => ({ pinnedAtMs: pinAction?.pinned ? Number(timestamp) : 0 })),
  mute: onChat(({ muteAction }) => ({
    mutedUntilMs: muteAction?.muted ? Number(muteAction.muteEndTimestamp ?? -1) : 0,
  })),
  markChatAsRead: onChat(({ markChatAsReadAction }) => ({ markedRead: markChatAsReadAction?.read ?? false })),
  clearChat: (phone, index, value) => {
    const [, jid = '', withStarred] = index;
    const except = withStarred === '0' ? phone.shared.starred : [];
    phone.messages.erase({ chat: chatName(phone.network, jid), ...until(value.clearChatAction?.messageRange), except });
    onChat((_value, nowMs) => ({ clearedAtMs: nowMs }))(phone, index, value);
  },
  deleteChat: (phone, index, value) => {
    const chat = chatName(phone.network, index[1] ?? '');
    phone.messages.erase({ chat, ...until(value.deleteChatAction?.messageRange) });
    onChat((_value, nowMs) => ({ deletedAtMs: nowMs }))(phone, index, value);
  },
  deleteMessageForMe: (phone, [, jid = '', id = '']) => {
    phone.messages.erase({ chat: chatName(phone.network, jid), id });
  },
  star: (phone, [, , id = ''], { starAction }) => {
    const others = phone.shared.starred.filter((one) => one !== id);
    phone.shared.starred = starAction?.starred ? [...others, id] : others;
  },
  contact: (phone, [, jid = ''], { contactAction }) => {
    phone.shared.contacts[chatName(phone.network, jid)] = contactAction?.fullName ?? contactAction?.firstName ?? '';
  },
  setting_pushName: (phone, _index, { pushNameSetting }) => {
    if (pushNameSetting?.name) phone.account.state.name = pushNameSetting.name;
  },
};

/** A companion or the phone itself changed what they share. */
export function applyChanges(phone: PhoneContext, changes: OpenedChange[]): void {
  for (const { index, value, removes } of changes) {
    const [kind = ''] = index;
    if (!removes) effects[kind]?.(phone, index, value);
    else if (kind === 'contact') delete phone.shared.contacts[chatName(phone.network, index[1] ?? '')];
  }
  phone.account.changed();
}
