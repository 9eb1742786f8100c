import { z } from 'zod';
import type { ChatFacts } from './chats.js';
import { participantField } from './contacts.js';
import { distinct, filledText, longText, text } from './fields.js';
import { expectObjectOrNothing, hasField, parseInput } from './parse.js';
import { sendGroupInviteBody, type SendGroupInviteBody } from './plain-messages.js';
import type { Page } from './queries.js';

/** Pattern of invite codes: the part of a link after the host. */
export const INVITE_CODE_PATTERN = /^[A-Za-z0-9]{14,22}$/;

/** Most members a group can have. */
export const MAX_GROUP_SIZE = 1_024;

const participants = distinct(participantField, MAX_GROUP_SIZE).describe('Phone digits, or `<digits>@s.whatsapp.net`.');

/** Body of POST /groups. */
export const createGroupBody = z.object({ subject: filledText, participants });
export type CreateGroupBody = z.output<typeof createGroupBody>;

/** Body of POST and DELETE /groups/{GroupID}/participants and of PATCH and DELETE /groups/{GroupID}/admins. */
export const participantsBody = z.object({ participants });
export type ParticipantsBody = z.output<typeof participantsBody>;

const info = {
  subject: filledText.optional(),
  description: longText.optional().describe('Empty text removes it.'),
};

/** Body of PATCH /groups/{GroupID}: what the group is called. */
export const groupInfoBody = z
  .object(info)
  .refine(
    (body) => hasField(body, 'subject') || hasField(body, 'description'),
    'one of subject, description is required',
  );
export type GroupInfoBody = z.output<typeof groupInfoBody>;

const setting = {
  setting: z.enum(['send_messages', 'edit_group_info', 'approve_participants', 'add_participants']),
  policy: z.enum(['anyone', 'admins']),
};

/** The other body of PATCH /groups/{GroupID}: who may do what. */
export const groupSettingBody = z.object(setting);
export type GroupSettingBody = z.output<typeof groupSettingBody>;

/** What PATCH /groups/{GroupID} means: the two kinds of body do not mix. */
export type PatchGroupAction = { action: 'info'; body: GroupInfoBody } | { action: 'setting'; body: GroupSettingBody };

const eitherGroupBody = z.object({}).superRefine((body, context) => {
  const isInfo = hasField(body, 'subject') || hasField(body, 'description');
  const isSetting = hasField(body, 'setting') || hasField(body, 'policy');
  if (isInfo && isSetting) context.addIssue('either subject and description, or setting with policy');
  if (!isInfo && !isSetting) context.addIssue('one of subject, description, setting is required');
});

/** @throws {GatewayError} 400 */
export function patchGroupAction(body: unknown): PatchGroupAction {
  parseInput(eitherGroupBody.loose(), body);
  return hasField(body, 'setting') || hasField(body, 'policy')
    ? { action: 'setting', body: parseInput(groupSettingBody, body) }
    : { action: 'info', body: parseInput(groupInfoBody, body) };
}

/** What POST /groups/link/{InviteCode} means: send the link, without joining, when the body has `to`; else join. */
export type GroupLinkAction = { action: 'send'; body: SendGroupInviteBody } | { action: 'join' };

/**
 * @param body undefined when the request has none
 * @throws {GatewayError} 400
 */
export function groupLinkAction(body: unknown): GroupLinkAction {
  expectObjectOrNothing(body);
  return hasField(body, 'to') ? { action: 'send', body: parseInput(sendGroupInviteBody, body) } : { action: 'join' };
}

/** Inputs of commands about one group, as sent to the worker. */
const groupId = { groupId: text };
export const groupInput = z.object(groupId);
export const participantsInput = z.object({ ...groupId, participants });
export const groupInfoInput = z.object({ ...groupId, ...info });
export const groupSettingInput = z.object({ ...groupId, ...setting });
export const joinGroupInput = z.object({ inviteCode: text });
export type GroupInput = z.output<typeof groupInput>;
export type ParticipantsInput = z.output<typeof participantsInput>;
export type GroupInfoInput = z.output<typeof groupInfoInput>;
export type GroupSettingInput = z.output<typeof groupSettingInput>;
export type JoinGroupInput = z.output<typeof joinGroupInput>;

/** A member of a group. */
export interface Participant {
  /** Contact id. */
  id: string;
  rank: 'admin' | 'member' | 'creator';
}

/** An invitation to send to a person who cannot be added. */
export interface ParticipantInvite {
  participant: string;
  invite_code: string;
  invite_link: string;
  /** Epoch seconds. */
  expiration?: number;
}

/** A group as customers see it. */
export interface Group extends ChatFacts {
  id: string;
  name: string;
  type: 'group';
  timestamp: number;
  participants: Participant[];
  participants_count: number;
  /** Epoch seconds. */
  created_at: number;
  created_by?: string;
  /** Epoch seconds of the last change of the name, and who made it. */
  name_at?: number;
  name_owner?: string;
  description?: string;
  description_owner?: string;
  description_id?: string;
  /** Only admins change name, picture and description. */
  restricted?: boolean;
  /** Only admins send. */
  announcements?: boolean;
  /** Members may add others. */
  adminAddMemberMode?: boolean;
  /** Seconds until messages disappear; 0 = never. */
  ephemeral?: number;
  isCommunityAnnounce?: boolean;
  linkedParent?: string;
  is_parent?: boolean;
  is_default_subgroup?: boolean;
  suspended?: boolean;
  terminated?: boolean;
  invite_code?: string;
  performed_by?: string;
}

export interface GroupsList extends Page {
  groups: Group[];
}

/** Answer of POST /groups. `group_id` repeats `id`: some clients read only that. */
export interface GroupCreateResult {
  id: string;
  group_id: string;
  name: string;
  type: 'group';
  timestamp: number;
  participants: Participant[];
  participants_count: number;
  name_at?: number;
  created_at: number;
  created_by: string;
  /** Contact ids of those who could not be added. */
  unprocessed_participants?: string[];
  invites?: ParticipantInvite[];
}

/** Answer of POST and DELETE /groups/{GroupID}/participants. Who was a member already counts as processed. */
export interface ParticipantsResult {
  success: true;
  processed: string[];
  failed: string[];
  /** For those whose privacy settings refuse a direct add: send them these. */
  invites?: ParticipantInvite[];
}

/** Answer of POST /groups/link/{InviteCode} without `to`. */
export interface JoinGroupResult {
  success: true;
  group_id: string;
}

/** Answer of GET /groups/{GroupID}/invite. */
export interface GroupInvite {
  invite_code: string;
  invite_link: string;
}

/** Answer of DELETE /groups/{GroupID}/invite: the new code. */
export interface GroupInviteRevoked extends GroupInvite {
  success: true;
}
