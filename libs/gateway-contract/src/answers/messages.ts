import { z } from 'zod';
import { MESSAGE_TYPES } from '../message-content.js';
import { MESSAGE_ACTIONS } from '../message-context.js';
import { MESSAGE_STATUS_CODES } from '../messages.js';
import {
  textContent,
  imageContent,
  videoContent,
  audioContent,
  documentContent,
  stickerContent,
  linkPreviewContent,
  adminInviteContent,
  locationContent,
  liveLocationContent,
  contactContent,
  contactListContent,
  pollContent,
  systemContent,
  unknownContent,
  replyContent,
  orderContent,
  productContent,
  listContent,
  buttonsContent,
  interactiveContent,
  hsmContent,
  eventResponse,
  plannedEventContent,
} from './message-content.js';
import { namesOf } from './names-of.js';

export const actionContent = z
  .object({
    target: z.string().optional().describe('Id of the message the action is about.'),
    type: z.enum(MESSAGE_ACTIONS),
    emoji: z.string().optional().describe("'' removes the reaction."),
    ephemeral: z.int().optional().describe('Seconds until messages disappear.'),
    edited_type: z.string().optional(),
    edited_content: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("What stands under the edited message's type now."),
    votes: z.array(z.string()).optional().describe('Ids of poll options; empty when the vote was withdrawn.'),
    comment: z.string().optional(),
    event_response: eventResponse.optional(),
  })
  .describe('Content of a message of type `action`.');

export const adContext = z
  .object({
    title: z.string().optional(),
    body: z.string().optional(),
    advertiser_name: z.string().optional(),
    media_type: z.enum(['image', 'video']).optional(),
    media_url: z.string().optional(),
    preview: z.string().optional(),
    preview_url: z.string().optional(),
    source: z.object({ id: z.string().optional(), type: z.string().optional(), url: z.string().optional() }).optional(),
    ctwa: z.string().optional(),
    ref: z.string().optional(),
    auto_reply: z.boolean().optional(),
    attrib: z.boolean().optional(),
  })
  .describe('The advertisement a conversation was started from.');

export const messageContext = z
  .object({
    forwarded: z.boolean().optional(),
    forwarding_score: z.int().optional(),
    mentions: z.array(z.string()).optional().describe('Contact ids.'),
    quoted_id: z.string().optional(),
    quoted_type: z.string().optional(),
    quoted_content: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("What stands under the quoted message's type."),
    quoted_author: z.string().optional(),
    ephemeral: z.int().optional().describe('Seconds until the message disappears.'),
    ad: adContext.optional(),
    conversion: z
      .object({ source: z.string().optional(), data: z.string().optional(), delay: z.int().optional() })
      .optional(),
  })
  .describe('Quote, mentions and forwarding marks of a message.');

export const messageReaction = z
  .object({
    id: z.string().optional().describe('Id of the action message that brought it.'),
    emoji: z.string(),
    group_key: z.string().optional(),
    t: z.int().optional().describe('Epoch seconds.'),
    unread: z.boolean().optional(),
    count: z.int().optional(),
  })
  .describe('A reaction as it stands on the message it belongs to.');

export const message = z
  .object({
    id: z.string(),
    type: z.enum(MESSAGE_TYPES),
    subtype: z
      .string()
      .optional()
      .describe(
        "Of a message of type `unknown`: the network's name for its kind, or the number of it; or `view_once`.",
      ),
    chat_id: z.string(),
    chat_name: z.string().optional(),
    from: z.string().optional().describe('Contact id of the author.'),
    from_me: z.boolean(),
    from_name: z.string().optional(),
    source: z.enum(['web', 'mobile', 'api', 'system', 'business_api', 'unknown']),
    timestamp: z.int().describe('Epoch seconds.'),
    device_id: z.int().optional(),
    status: z.enum(namesOf(MESSAGE_STATUS_CODES)).optional(),
    context: messageContext.optional(),
    reactions: z.array(messageReaction).optional(),
    text: textContent.optional(),
    image: imageContent.optional(),
    video: videoContent.optional(),
    gif: videoContent.optional(),
    short: videoContent.optional(),
    audio: audioContent.optional(),
    voice: audioContent.optional(),
    document: documentContent.optional(),
    sticker: stickerContent.optional(),
    location: locationContent.optional(),
    live_location: liveLocationContent.optional(),
    contact: contactContent.optional(),
    contact_list: contactListContent.optional(),
    link_preview: linkPreviewContent.optional(),
    group_invite: linkPreviewContent.optional(),
    newsletter_invite: linkPreviewContent.optional(),
    admin_invite: adminInviteContent.optional(),
    catalog: linkPreviewContent.optional(),
    product: productContent.optional(),
    order: orderContent.optional(),
    poll: pollContent.optional(),
    system: systemContent.optional(),
    reply: replyContent.optional(),
    list: listContent.optional(),
    buttons: buttonsContent.optional(),
    interactive: interactiveContent.optional(),
    hsm: hsmContent.optional(),
    event: plannedEventContent.optional(),
    action: actionContent.optional(),
    unknown: unknownContent.optional(),
  })
  .describe(
    'A message as customers see it. The content stands under the name of its type (`text`, `image`, …; see the OpenAPI document); absent values are left out, never null.',
  );

export const sentMessage = z.object({ sent: z.literal(true), message: message }).describe('Answer of every send.');

export const editResult = z
  .object({ ...sentMessage.shape, success: z.literal(true) })
  .describe('Answer of PUT /messages/{MessageID} with a body.');

export const statusEntry = z
  .object({
    id: z.string(),
    code: z.int(),
    status: z.enum(namesOf(MESSAGE_STATUS_CODES)),
    recipient_id: z.string().optional().describe('The chat the message went to.'),
    viewer_id: z.string().optional().describe('Who received or read it.'),
    timestamp: z.string().describe('Epoch seconds as a decimal string.'),
    errors: z.array(z.object({ code: z.int(), message: z.string(), details: z.string().optional() })).optional(),
  })
  .describe('One step a message took.');

export const statusesList = z.object({ statuses: z.array(statusEntry) });
