import type { CollectionName } from '../shared-state/collection.js';
import { announceSharedState } from '../network/shared-state-notices.js';
import { writeSharedState, type Change } from '../shared-state/write.js';
import { applyChanges } from './chat-settings.js';
import type { PhoneContext } from './phone-context.js';

/** What somebody does with a chat at the phone. */
export interface ChatChange {
  archived?: boolean | undefined;
  pinned?: boolean | undefined;
  /** 0 unmutes; -1 for ever. */
  mutedUntilMs?: number | undefined;
  read?: boolean | undefined;
  clear?: boolean | undefined;
  delete?: boolean | undefined;
  star?: { id: string; starred: boolean } | undefined;
  /** The id of a message to delete for oneself only. */
  deleteForMe?: string | undefined;
}

/** Changes a chat at the phone; companions get it through the shared state. */
export function changeChat(phone: PhoneContext, chat: string, change: ChatChange): void {
  const at = (kind: string, ...rest: string[]): string[] => [kind, chat, ...rest];
  const range = { lastMessageTimestamp: Number(phone.network.timestamp()), messages: [] };
  if (change.archived !== undefined) {
    const value = { archiveChatAction: { archived: change.archived, messageRange: range } };
    share(phone, 'regular_low', [{ index: at('archive'), value, actionVersion: 3 }]);
  }
  if (change.pinned !== undefined) {
    share(phone, 'regular_low', [
      { index: at('pin_v1'), value: { pinAction: { pinned: change.pinned } }, actionVersion: 5 },
    ]);
  }
  if (change.mutedUntilMs !== undefined) {
    const muted = change.mutedUntilMs !== 0;
    const value = { muteAction: muted ? { muted, muteEndTimestamp: change.mutedUntilMs } : { muted } };
    share(phone, 'regular_high', [{ index: at('mute'), value, actionVersion: 2 }]);
  }
  if (change.read !== undefined) {
    const value = { markChatAsReadAction: { read: change.read, messageRange: range } };
    share(phone, 'regular_low', [{ index: at('markChatAsRead'), value, actionVersion: 3 }]);
  }
  if (change.clear) {
    share(phone, 'regular_high', [
      { index: at('clearChat', '1', '0'), value: { clearChatAction: { messageRange: range } }, actionVersion: 6 },
    ]);
  }
  if (change.delete) {
    share(phone, 'regular_high', [
      { index: at('deleteChat', '1'), value: { deleteChatAction: { messageRange: range } }, actionVersion: 6 },
    ]);
  }
  if (change.deleteForMe !== undefined) {
    const message = phone.messages.get(change.deleteForMe);
    const value = { deleteMessageForMeAction: { deleteMedia: false, messageTimestamp: message?.timestamp ?? 0 } };
    const author = message?.fromMe ? ['1', '0'] : ['0', message?.wireAuthor ?? '0'];
    share(phone, 'regular_high', [
      { index: at('deleteMessageForMe', change.deleteForMe, ...author), value, actionVersion: 3 },
    ]);
  }
  if (change.star) {
    const { id, starred } = change.star;
    const fromMe = phone.messages.get(id)?.fromMe ? '1' : '0';
    share(phone, 'regular_low', [
      { index: at('star', id, fromMe, '0'), value: { starAction: { starred } }, actionVersion: 2 },
    ]);
  }
}

/** Gives a person a name in the phone's address book. */
export function nameContact(phone: PhoneContext, who: string, name: string): void {
  const lidJid = phone.network.accounts.find(who)?.lidJid;
  const value = {
    contactAction: {
      fullName: name,
      firstName: name.split(' ')[0] ?? name,
      saveOnPrimaryAddressbook: true,
      ...(lidJid !== undefined && { lidJid }),
    },
  };
  share(phone, 'critical_unblock_low', [{ index: ['contact', who], value, actionVersion: 2 }]);
}

/** The owner's own name, as companions show it. */
export function sharePushName(phone: PhoneContext, name: string): void {
  share(phone, 'critical_block', [
    { index: ['setting_pushName'], value: { pushNameSetting: { name } }, actionVersion: 1 },
  ]);
}

function share(phone: PhoneContext, collection: CollectionName, changes: Change[]): void {
  const { network, account } = phone;
  const version = writeSharedState(account.appState(), collection, changes, network.now());
  const timestamp = network.now();
  applyChanges(
    phone,
    changes.map(({ index, value, remove }) => ({ index, value: { timestamp, ...value }, removes: remove ?? false })),
  );
  announceSharedState(network, account, collection, version);
}
