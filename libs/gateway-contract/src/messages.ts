import { z } from 'zod';
import { flag, MAX_TEXT_LENGTH, writtenText } from './fields.js';
import { contactIdField } from './contacts.js';
import type * as content from './message-content.js';
import type { ActionContent, MessageContext, MessageReaction } from './message-context.js';
import { pageQuery, queryBoolean, queryTime, type Page } from './queries.js';
import { mentions, sendOptions } from './send-options.js';

export { MAX_TEXT_LENGTH } from './fields.js';

/** Statuses of an own message in the order they are reached, with the code customers see. */
export const MESSAGE_STATUS_CODES = {
  failed: 0,
  pending: 1,
  sent: 2,
  delivered: 3,
  read: 4,
  played: 5,
  deleted: 6,
} as const;
export type MessageStatus = keyof typeof MESSAGE_STATUS_CODES;

/** Body of POST /messages/text. */
export const sendTextBody = z.object({
  ...sendOptions,
  body: writtenText
    .min(1, 'must not be empty')
    .max(MAX_TEXT_LENGTH, `must have at most ${MAX_TEXT_LENGTH} characters`)
    .describe('The text.'),
  no_link_preview: flag.optional().describe('Make no preview of a link in the text.'),
  wide_link_preview: flag.optional().describe('Show the preview with a large picture.'),
  mentions: mentions.optional(),
});
export type SendTextBody = z.output<typeof sendTextBody>;

/**
 * A message as customers see it. The content stands under the name of its type (`text`, `image`, …; see the
 * OpenAPI document); absent values are left out, never null.
 */
export interface Message {
  id: string;
  type: string;
  /** Of a message of type `unknown`: the network's name for its kind, or the number of it; or `view_once`. */
  subtype?: string;
  chat_id: string;
  chat_name?: string;
  /** Contact id of the author. */
  from?: string;
  from_me: boolean;
  from_name?: string;
  source: 'web' | 'mobile' | 'api' | 'system' | 'business_api' | 'unknown';
  /** Epoch seconds. */
  timestamp: number;
  device_id?: number;
  status?: MessageStatus;
  context?: MessageContext;
  reactions?: MessageReaction[];
  text?: content.TextContent;
  image?: content.ImageContent;
  video?: content.VideoContent;
  gif?: content.VideoContent;
  short?: content.VideoContent;
  audio?: content.AudioContent;
  voice?: content.AudioContent;
  document?: content.DocumentContent;
  sticker?: content.StickerContent;
  location?: content.LocationContent;
  live_location?: content.LiveLocationContent;
  contact?: content.ContactContent;
  contact_list?: content.ContactListContent;
  link_preview?: content.LinkPreviewContent;
  group_invite?: content.LinkPreviewContent;
  newsletter_invite?: content.LinkPreviewContent;
  admin_invite?: content.AdminInviteContent;
  catalog?: content.LinkPreviewContent;
  product?: content.ProductContent;
  order?: content.OrderContent;
  poll?: content.PollContent;
  system?: content.SystemContent;
  reply?: content.ReplyContent;
  list?: content.ListContent;
  buttons?: content.ButtonsContent;
  interactive?: content.InteractiveContent;
  hsm?: content.HsmContent;
  event?: content.PlannedEventContent;
  action?: ActionContent;
  unknown?: content.UnknownContent;
  [content: string]: unknown;
}

/** Answer of every send. */
export interface SentMessage {
  sent: true;
  message: Message;
}

/** One step a message took. */
export interface StatusEntry {
  id: string;
  code: number;
  status: MessageStatus;
  /** The chat the message went to. */
  recipient_id?: string;
  /** Who received or read it. */
  viewer_id?: string;
  /** Epoch seconds as a decimal string. */
  timestamp: string;
  errors?: { code: number; message: string; details?: string }[];
}

export interface StatusesList {
  statuses: StatusEntry[];
}

export interface MessagesList extends Page {
  messages: Message[];
  /** Index of the first and last item returned; left out when there is none. */
  first?: number;
  last?: number;
}

/** Query of GET /messages/list and /messages/list/{ChatID}. */
export const listMessagesQuery = pageQuery.extend({
  time_from: queryTime.optional().describe('Epoch seconds.'),
  time_to: queryTime.optional().describe('Epoch seconds.'),
  normal_types: queryBoolean.default(true).describe('false: messages of type `system` and `action`, too.'),
  author: contactIdField.optional().describe('Contact id: only messages of this person.'),
  from_me: queryBoolean.optional(),
  sort: z.enum(['asc', 'desc']).default('desc'),
});
export type ListMessagesQuery = z.output<typeof listMessagesQuery>;
