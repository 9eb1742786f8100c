import type { WASocket } from '@whiskeysockets/baileys';
import type { GroupDescription } from '../network-events.js';

/** What became of one member of a request, as the network answers. */
export interface MemberAnswer {
  /** The address by which the network names the member. */
  readonly jid: string | undefined;
  /** `200` when it was done, else the network's code. */
  readonly status: string;
  /** Addresses of the same person, where the network sends them. */
  readonly phoneNumber: string | undefined;
  readonly lid: string | undefined;
  /** An invitation that the network offers for somebody who cannot be added. */
  readonly offer: InviteOffer | undefined;
}

export interface InviteOffer {
  readonly code: string;
  /** Epoch seconds; absent when the network does not send it. */
  readonly expiration?: number;
}

/** What only admins may do in a group, or every member. */
export type GroupPolicy = 'sending' | 'editing' | 'adding' | 'approving';

export interface GroupRequests {
  describe(groupId: string): Promise<GroupDescription>;
  /** All groups that the number is in. */
  describeAll(): Promise<GroupDescription[]>;
  /** @returns the group's address. Who could not be added is not returned: query the group. */
  create(subject: string, memberJids: readonly string[]): Promise<string>;
  leave(groupId: string): Promise<void>;
  setSubject(groupId: string, subject: string): Promise<void>;
  /** @param description '' for none */
  setDescription(groupId: string, description: string): Promise<void>;
  /** @param adminsOnly for `approving`: admins decide who may join */
  setPolicy(groupId: string, policy: GroupPolicy, adminsOnly: boolean): Promise<void>;
  /** @returns an answer for each member, mostly in the same order */
  changeMembers(
    groupId: string,
    memberJids: readonly string[],
    action: 'add' | 'remove' | 'promote' | 'demote',
  ): Promise<MemberAnswer[]>;
  inviteCode(groupId: string): Promise<string | undefined>;
  /** The old link leads nowhere from now on. @returns the code of the new one */
  revokeInvite(groupId: string): Promise<string | undefined>;
  /** @returns the group's address; undefined when admins decide */
  join(inviteCode: string): Promise<string | undefined>;
  /** The group that an invite link leads to. */
  invitedTo(inviteCode: string): Promise<GroupDescription>;
}

export function groupRequests(socket: WASocket): GroupRequests {
  return {
    describe: (groupId) => socket.groupMetadata(groupId),
    describeAll: async () => Object.values(await socket.groupFetchAllParticipating()),
    create: async (subject, memberJids) => (await socket.groupCreate(subject, [...memberJids])).id,
    leave: (groupId) => socket.groupLeave(groupId),
    setSubject: (groupId, subject) => socket.groupUpdateSubject(groupId, subject),
    setDescription: (groupId, description) =>
      socket.groupUpdateDescription(groupId, description === '' ? undefined : description),
    setPolicy: (groupId, policy, adminsOnly) => {
      switch (policy) {
        case 'sending':
          return socket.groupSettingUpdate(groupId, adminsOnly ? 'announcement' : 'not_announcement');
        case 'editing':
          return socket.groupSettingUpdate(groupId, adminsOnly ? 'locked' : 'unlocked');
        case 'adding':
          return socket.groupMemberAddMode(groupId, adminsOnly ? 'admin_add' : 'all_member_add');
        case 'approving':
          return socket.groupJoinApprovalMode(groupId, adminsOnly ? 'on' : 'off');
      }
    },
    changeMembers: async (groupId, memberJids, action) =>
      (await socket.groupParticipantsUpdate(groupId, [...memberJids], action)).map(memberAnswer),
    inviteCode: (groupId) => socket.groupInviteCode(groupId),
    revokeInvite: (groupId) => socket.groupRevokeInvite(groupId),
    join: (inviteCode) => socket.groupAcceptInvite(inviteCode),
    invitedTo: (inviteCode) => socket.groupGetInviteInfo(inviteCode),
  };
}

type LibraryAnswer = Awaited<ReturnType<WASocket['groupParticipantsUpdate']>>[number];

function memberAnswer({ jid, status, content }: LibraryAnswer): MemberAnswer {
  const { attrs } = content;
  const request = Array.isArray(content.content) ? content.content.find(({ tag }) => tag === 'add_request') : undefined;
  const { code, expiration } = request?.attrs ?? {};
  return {
    jid,
    status,
    phoneNumber: attrs['phone_number'],
    lid: attrs['lid'],
    offer: code === undefined ? undefined : { code, ...(Number(expiration) > 0 && { expiration: Number(expiration) }) },
  };
}
