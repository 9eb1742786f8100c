import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import type { Group, GroupRole } from '../network/group.js';
import { isGroupJid, LID_SERVER, PHONE_SERVER } from '../wire/jid.js';
import { isUnread, type PhoneMessage } from './message-log.js';
import type { PhoneContext } from './phone-context.js';

const { Rank } = proto.GroupParticipant;
const RANKS: Record<GroupRole, number> = { superadmin: Rank.SUPERADMIN, admin: Rank.ADMIN, member: Rank.REGULAR };

/** A chat as histories carry it, without its messages: names, what the owner set about it, the members of a group. */
export function historyChat(phone: PhoneContext, id: string, messages: PhoneMessage[]): proto.IConversation {
  const { network, shared } = phone;
  const group = network.groups.find(id);
  const name = shared.contacts[id] ?? group?.state.subject.text;
  const lid = isGroupJid(id) ? undefined : network.accounts.find(id)?.lidJid;
  return {
    id,
    conversationTimestamp: messages[0]?.timestamp ?? 0,
    unreadCount: messages.filter(isUnread).length,
    ...(name !== undefined && { name }),
    ...(lid !== undefined && { lidJid: lid, pnJid: id }),
    ...settingsOf(phone, id),
    ...(group && groupFields(phone, group)),
  };
}

/** Times are in seconds, other than in shared state. */
function settingsOf({ shared }: PhoneContext, id: string): Partial<proto.IConversation> {
  const { archived, pinnedAtMs, mutedUntilMs, markedRead, timer } = shared.chats[id] ?? {};
  return {
    ...(archived && { archived }),
    ...(pinnedAtMs && { pinned: Math.floor(pinnedAtMs / 1000) }),
    ...(mutedUntilMs && { muteEndTime: mutedUntilMs < 0 ? -1 : Math.floor(mutedUntilMs / 1000) }),
    ...(markedRead === false && { markedAsUnread: true }),
    ...(timer && { ephemeralExpiration: timer.seconds, ephemeralSettingTimestamp: timer.setAt }),
  };
}

function groupFields({ network }: PhoneContext, group: Group): Partial<proto.IConversation> {
  const { state } = group;
  const server = state.addressing === 'lid' ? LID_SERVER : PHONE_SERVER;
  const nameOf = (lid: string): string =>
    network.accounts.find(`${lid}@${LID_SERVER}`)?.jidLike(server) ?? `${lid}@${LID_SERVER}`;
  return {
    createdAt: state.createdAt,
    createdBy: nameOf(state.creator),
    ...(state.description && { description: state.description.text }),
    ...(state.ephemeralSeconds > 0 && { ephemeralExpiration: state.ephemeralSeconds }),
    participant: Object.entries(state.members).map(([lid, role]) => ({
      userJid: nameOf(lid),
      rank: RANKS[role],
    })),
  };
}
