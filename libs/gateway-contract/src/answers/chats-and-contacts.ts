import { z } from 'zod';
import { message } from './messages.js';

export const page = z
  .object({ count: z.int(), total: z.int(), offset: z.int() })
  .describe('How every list pages: `count` items from `offset`; `total` counts all that match.');

export const messagesList = z.object({
  ...page.shape,
  messages: z.array(message),
  first: z.int().optional().describe('Index of the first and last item returned; left out when there is none.'),
  last: z.int().optional(),
});

export const chatFacts = z
  .object({
    pin: z.boolean().optional(),
    mute: z.boolean().optional(),
    mute_until: z.int().optional().describe('Epoch milliseconds; 0 = not muted.'),
    archive: z.boolean().optional(),
    unread: z.int().optional(),
    unread_mention: z.boolean().optional().describe("One of the unread messages mentions the channel's number."),
    read_only: z.boolean().optional().describe('The channel cannot send here.'),
    not_spam: z.boolean().optional(),
    chat_pic: z.string().optional().describe('URL of the small and of the whole picture.'),
    chat_pic_full: z.string().optional(),
    last_message: message.optional(),
  })
  .describe('What is known of a chat beyond its name: the same for chats and groups.');

export const chat = z
  .object({
    ...chatFacts.shape,
    id: z.string(),
    name: z.string().optional(),
    type: z.enum(['group', 'contact', 'broadcast', 'newsletter', 'unknown']),
    timestamp: z.int().describe('Epoch seconds of the last activity.'),
  })
  .describe('A chat as customers see it.');

export const chatsList = z.object({ ...page.shape, chats: z.array(chat) });

export const participant = z
  .object({ id: z.string().describe('Contact id.'), rank: z.enum(['admin', 'member', 'creator']) })
  .describe('A member of a group.');

export const group = z
  .object({
    ...chatFacts.shape,
    id: z.string(),
    name: z.string(),
    get type() {
      return z.literal('group');
    },
    timestamp: z.int(),
    participants: z.array(participant),
    participants_count: z.int(),
    created_at: z.int().describe('Epoch seconds.'),
    created_by: z.string().optional(),
    name_at: z.int().optional().describe('Epoch seconds of the last change of the name, and who made it.'),
    name_owner: z.string().optional(),
    description: z.string().optional(),
    description_owner: z.string().optional(),
    description_id: z.string().optional(),
    restricted: z.boolean().optional().describe('Only admins change name, picture and description.'),
    announcements: z.boolean().optional().describe('Only admins send.'),
    adminAddMemberMode: z.boolean().optional().describe('Members may add others.'),
    ephemeral: z.int().optional().describe('Seconds until messages disappear; 0 = never.'),
    isCommunityAnnounce: z.boolean().optional(),
    linkedParent: z.string().optional(),
    is_parent: z.boolean().optional(),
    is_default_subgroup: z.boolean().optional(),
    suspended: z.boolean().optional(),
    terminated: z.boolean().optional(),
    invite_code: z.string().optional(),
    performed_by: z.string().optional(),
  })
  .describe('A group as customers see it.');

export const groupsList = z.object({ ...page.shape, groups: z.array(group) });

export const participantInvite = z
  .object({
    participant: z.string(),
    invite_code: z.string(),
    invite_link: z.string(),
    expiration: z.int().optional().describe('Epoch seconds.'),
  })
  .describe('An invitation to send to a person who cannot be added.');

export const groupCreateResult = z
  .object({
    id: z.string(),
    group_id: z.string(),
    name: z.string(),
    type: z.literal('group'),
    timestamp: z.int(),
    participants: z.array(participant),
    participants_count: z.int(),
    name_at: z.int().optional(),
    created_at: z.int(),
    created_by: z.string(),
    unprocessed_participants: z.array(z.string()).optional().describe('Contact ids of those who could not be added.'),
    invites: z.array(participantInvite).optional(),
  })
  .describe('Answer of POST /groups. `group_id` repeats `id`: some clients read only that.');

export const participantsResult = z
  .object({
    success: z.literal(true),
    processed: z.array(z.string()),
    failed: z.array(z.string()),
    invites: z
      .array(participantInvite)
      .optional()
      .describe('For those whose privacy settings refuse a direct add: send them these.'),
  })
  .describe('Answer of POST and DELETE /groups/{GroupID}/participants. Who was a member already counts as processed.');

export const joinGroupResult = z
  .object({ success: z.literal(true), group_id: z.string() })
  .describe('Answer of POST /groups/link/{InviteCode} without `to`.');

export const groupInvite = z
  .object({ invite_code: z.string(), invite_link: z.string() })
  .describe('Answer of GET /groups/{GroupID}/invite.');

export const groupInviteRevoked = z
  .object({ ...groupInvite.shape, success: z.literal(true) })
  .describe('Answer of DELETE /groups/{GroupID}/invite: the new code.');

export const checkedContact = z
  .union([
    z.object({
      input: z.string(),
      status: z.literal('valid'),
      wa_id: z.string().describe("Contact id in the network's own form."),
    }),
    z.object({ input: z.string(), status: z.literal('invalid') }),
  ])
  .describe('The result for one input.');

export const checkContactsResult = z
  .object({ contacts: z.array(checkedContact) })
  .describe('Answer of POST /contacts: one entry per input, in the order of the inputs.');

export const contactShape = z
  .object({
    id: z.string(),
    name: z.string().describe("Name in the phone's address book, else the push name, else ''."),
    pushname: z.string().optional().describe('The name the contact shows to others.'),
    is_business: z.boolean().optional(),
    profile_pic: z.string().optional().describe('URL of the small and of the whole picture.'),
    profile_pic_full: z.string().optional(),
    status: z.string().optional().describe("The contact's about text."),
    saved: z.boolean().optional().describe("Stands in the phone's address book."),
  })
  .describe('A contact as customers see it: `id` is digits, or `<digits>@lid` while the number is unknown.');

export const contactsList = z.object({ ...page.shape, contacts: z.array(contactShape) });

export const userProfile = z
  .object({
    name: z.string(),
    about: z.string().optional(),
    icon: z.string().optional().describe('URL of the small and of the whole picture.'),
    icon_full: z.string().optional(),
    push_name: z.string().optional(),
    verified_name: z.string().optional(),
  })
  .describe('Answer of GET /users/profile and GET /contacts/{ContactID}/profile.');

export const presence = z
  .object({
    contact_id: z.string(),
    status: z.enum(['online', 'offline', 'typing', 'recording', 'pending']).optional(),
    last_seen: z.int().optional().describe('Epoch seconds.'),
  })
  .describe('Presence of a contact, as in events.');

export const participantsEvent = z.object({
  group_id: z.string(),
  participants: z.array(z.string()).describe('Contact ids.'),
  action: z.enum(['add', 'remove', 'promote', 'demote', 'request', 'revoke_request', 'rejected_request']),
});
