import { LATEST_EPOCH_S, plainText } from '@dormouse/gateway-contract';
import { z } from 'zod';
import { KEY_SCOPES, ROLES } from './access.js';
import { emailAddress, newPassword, userName } from './users.js';

const epochS = z.int();
const name = plainText.trim().min(1, 'must not be empty').max(100, 'must have at most 100 characters');
const role = z.enum(ROLES, `must be one of ${ROLES.join(', ')}`);

/** Answer of GET /api/v1/account: the account of the request. */
export const accountRecord = z.object({
  id: z.string(),
  name: z.string(),
  created_at: epochS.describe('Epoch seconds.'),
  role: role.optional().describe('What the user of the request is in it; absent for a key.'),
});
export type AccountRecord = z.output<typeof accountRecord>;

/** Answer of GET /api/v1/accounts. */
export const accountList = z.object({ accounts: z.array(accountRecord) });
export type AccountList = z.output<typeof accountList>;

/** Body of POST /api/v1/accounts and PATCH /api/v1/account. */
export const accountBody = z.object({ name });
export type AccountBody = z.output<typeof accountBody>;

/** Body of DELETE /api/v1/account. */
export const endAccountBody = z.object({
  name: z.string().describe("The account's name, exactly: a proof that the right account is meant."),
});
export type EndAccountBody = z.output<typeof endAccountBody>;

export const memberRecord = z.object({
  id: z.string().describe('Id of the user.'),
  name: z.string(),
  email: z.string(),
  role,
  second_factor: z.boolean(),
  joined_at: epochS,
});
export type MemberRecord = z.output<typeof memberRecord>;

/** Answer of GET /api/v1/account/members, the oldest first. */
export const memberList = z.object({ members: z.array(memberRecord) });
export type MemberList = z.output<typeof memberList>;

/** Body of PATCH /api/v1/account/members/{id}. */
export const changeRoleBody = z.object({ role });
export type ChangeRoleBody = z.output<typeof changeRoleBody>;

export const invitationRecord = z.object({
  id: z.string(),
  email: z.string(),
  role,
  created_at: epochS,
  expires_at: epochS,
});
export type InvitationRecord = z.output<typeof invitationRecord>;

/** Answer of GET /api/v1/account/invitations: those that are open, the newest first. */
export const invitationList = z.object({ invitations: z.array(invitationRecord) });
export type InvitationList = z.output<typeof invitationList>;

/** Body of POST /api/v1/account/invitations. */
export const inviteBody = z.object({ email: emailAddress, role });
export type InviteBody = z.output<typeof inviteBody>;

/** Answer of POST /api/v1/account/invitations. */
export const invited = z.object({
  invitation: invitationRecord,
  link: z.string().optional().describe('Only where no mail is sent: pass it on to the person. It works once.'),
});
export type Invited = z.output<typeof invited>;

/** Body of POST /api/v1/invitations/accept: the token is what follows `#` in the link. */
export const acceptInvitationBody = z.object({
  token: plainText.min(1, 'must not be empty').max(100, 'must have at most 100 characters'),
});
export type AcceptInvitationBody = z.output<typeof acceptInvitationBody>;

/** Body of POST /api/v1/invitations/join. */
export const joinBody = acceptInvitationBody.extend({ name: userName, password: newPassword });
export type JoinBody = z.output<typeof joinBody>;

export const keyRecord = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(KEY_SCOPES)),
  created_at: epochS,
  created_by: z.string().optional().describe('The user who made it, or whose key did.'),
  created_by_key: z.string().optional().describe('The key that made it: it ends with that key.'),
  expires_at: epochS.optional().describe('Absent: it has no end.'),
  last_used_at: epochS.optional().describe('To the minute; absent: never used.'),
});
export type KeyRecord = z.output<typeof keyRecord>;

/** Answer of GET /api/v1/account/keys: those that work, the newest first. */
export const keyList = z.object({ keys: z.array(keyRecord) });
export type KeyList = z.output<typeof keyList>;

/** Body of POST /api/v1/account/keys. */
export const createKeyBody = z.object({
  name,
  scopes: z
    .array(z.enum(KEY_SCOPES, `must be among ${KEY_SCOPES.join(', ')}`))
    .min(1, 'must have at least one')
    .max(100, 'must have at most 100 entries')
    .transform((scopes) => KEY_SCOPES.filter((scope) => scopes.includes(scope))),
  expires_at: epochS
    .refine((seconds) => seconds > 0 && seconds < LATEST_EPOCH_S, 'must be epoch seconds')
    .optional()
    .describe('When it stops working, in epoch seconds; absent: never.'),
});
export type CreateKeyBody = z.output<typeof createKeyBody>;

/** Answer of POST /api/v1/account/keys. */
export const keyCreated = z.object({
  key: keyRecord,
  secret: z.string().describe('The key itself. Returned only here.'),
});
export type KeyCreated = z.output<typeof keyCreated>;

/** Body of PUT /api/v1/operators/accounts/{id}/limits, and its answer: 0 is no limit; absent is the default of the installation. */
export const accountLimits = z.object({
  channels_per_half_hour: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe('Channels that may be created in half an hour.'),
  never_linked_channels: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe('Channels that may exist without ever having been linked.'),
});
export type AccountLimits = z.output<typeof accountLimits>;
