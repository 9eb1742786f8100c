/** What happens to groups: they are made, described anew, joined and left. See `groups/` for the rest. */
import type { GroupRecord } from '@dormouse/message-store/write';
import {
  groupAfter,
  groupChange,
  groupFromNetwork,
  memberFromNetwork,
  requestAction,
  requestAfter,
  type MemberAction,
} from '../convert/group.js';
import { bareJid, isGroup, personContactId } from '../convert/jid.js';
import type { ChatChange, GroupDescription, NetworkEvents } from '../socket/network-events.js';
import { convertEach, storeAndNotify, type InboundContext } from './inbound-context.js';
import { resolveLids } from './resolve-lids.js';

/** Groups that were made, or that the channel was taken into: described in full. */
export async function handleNewGroups(inbound: InboundContext, described: readonly GroupDescription[]): Promise<void> {
  const { session, queue, groups } = inbound;
  const people = await queue.store(() => resolveLids(session, described));
  const records = convertEach(inbound, described, (group) => groupFromNetwork(group, people));
  await storeAndNotify(inbound, () => groups.recordGroups(session.fence, session.channelId, records));
}

/**
 * What a group is called and who may do what in it, from the network's notices. The library's own `groups.update` is
 * not listened to: of two updates of a group that come together it keeps the first one only.
 */
export async function handleGroupNotices(
  inbound: InboundContext,
  { messages }: NetworkEvents['messages'],
): Promise<void> {
  const notices = messages.filter(({ key, messageStubType }) => messageStubType && isGroup(key.remoteJid));
  if (notices.length === 0) return;
  const people = await inbound.queue.store(() => resolveLids(inbound.session, notices));
  for (const notice of notices) {
    const apply = groupChange(notice, people);
    if (apply) await change(inbound, notice.key.remoteJid ?? '', apply);
  }
}

const ACTIONS: readonly string[] = ['add', 'remove', 'promote', 'demote'] satisfies MemberAction[];

/** Who joined, went, rose or fell. */
export async function handleMembers(
  inbound: InboundContext,
  { id, participants, action }: NetworkEvents['groupMembers'],
): Promise<void> {
  const people = await inbound.queue.store(() => resolveLids(inbound.session, participants));
  const members = convertEach(inbound, participants, (participant) => memberFromNetwork(participant, people));
  await change(inbound, id, (before) =>
    isMemberAction(action) ? groupAfter(before, action, members, people) : undefined,
  );
}

/** Requests to join a group whose admins decide, made and ended. Only admins' devices are notified. */
export async function handleJoinRequest(
  inbound: InboundContext,
  { id, participant, participantPn, action }: NetworkEvents['joinRequest'],
): Promise<void> {
  const named = { participant, participantAlt: participantPn };
  const { numbers } = await inbound.queue.store(() => resolveLids(inbound.session, named));
  const asker = personContactId([participantPn, participant], numbers);
  if (asker === undefined) return;
  await change(inbound, id, (before) => requestAfter(before, asker, requestAction(action)));
}

/**
 * How long messages of a group stay: the library emits it as a change of the chat, with null for a timer that was
 * switched off (7.0.0-rc14, process-message.js:312).
 */
export async function handleGroupTimers(inbound: InboundContext, chats: readonly ChatChange[]): Promise<void> {
  for (const { id, ephemeralExpiration } of chats) {
    if (!id || !isGroup(id) || ephemeralExpiration === undefined) continue;
    const ephemeralS = ephemeralExpiration ?? 0;
    await change(inbound, id, (before) => ({ ...before, facts: { ...before.facts, ephemeralS } }));
  }
}

function isMemberAction(action: string): action is MemberAction {
  return ACTIONS.includes(action);
}

async function change(
  { session, queue, groups, eventsReady, queryGroup }: InboundContext,
  jid: string,
  apply: (before: GroupRecord) => GroupRecord | undefined,
): Promise<void> {
  const { fence, channelId } = session;
  const groupId = bareJid(jid);
  const { seqs, stale } = await queue.store(() => groups.changeGroup(fence, channelId, groupId, apply));
  if (seqs.length > 0) eventsReady(channelId);
  if (stale) queryGroup(session, groupId);
}
