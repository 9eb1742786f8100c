import { z } from 'zod';
import { MESSAGE_ID_PATTERN, recipientSchema } from './ids.js';

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

/** Longest text that is accepted, in UTF-16 code units. */
export const MAX_TEXT_LENGTH = 65_536;

const messageIdField = z.string().regex(MESSAGE_ID_PATTERN, 'not a message id');
const mention = z
  .string()
  .regex(
    /^\d{7,15}(@s\.whatsapp\.net)?$|^\d{10,31}@g\.us$/,
    'must be phone digits, <digits>@s.whatsapp.net or a group id',
  );

/** Body of POST /messages/text. */
export const sendTextBody = z.object({
  to: recipientSchema,
  body: z.string().min(1, 'must not be empty').max(MAX_TEXT_LENGTH, `must have at most ${MAX_TEXT_LENGTH} characters`),
  quoted: messageIdField.optional(),
  edit: messageIdField.optional(),
  /** Seconds the typing indicator is shown before the send. */
  typing_time: z
    .number('must be a number')
    .min(0, 'must be between 0 and 60')
    .max(60, 'must be between 0 and 60')
    .optional(),
  no_link_preview: z.boolean('must be true or false').optional(),
  wide_link_preview: z.boolean('must be true or false').optional(),
  mentions: z.array(mention).optional(),
  /** Seconds until the message disappears. */
  ephemeral: z
    .int('must be a whole number')
    .min(1, 'must be between 1 and 604800')
    .max(604_800, 'must be between 1 and 604800')
    .optional(),
  view_once: z.boolean('must be true or false').optional(),
});
export type SendTextBody = z.output<typeof sendTextBody>;

/** What quotes, mentions and forwards say about a message. */
export interface MessageContext {
  forwarded?: boolean;
  forwarding_score?: number;
  mentions?: string[];
  quoted_id?: string;
  quoted_type?: string;
  quoted_content?: Record<string, unknown>;
  quoted_author?: string;
  ephemeral?: number;
}

/**
 * A message as customers see it. The content stands under the name of its type (`text`, `image`, …; see the
 * OpenAPI document); absent values are left out, never null.
 */
export interface Message {
  id: string;
  type: string;
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
  reactions?: { emoji: string; group_key?: string; author: string; unread?: boolean }[];
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

/** How every list pages: `count` items from `offset`; `total` counts all that match. */
export interface Page {
  count: number;
  total: number;
  offset: number;
}

export interface MessagesList extends Page {
  messages: Message[];
  /** Index of the first and last item returned; left out when there is none. */
  first?: number;
  last?: number;
}

const COUNT_RANGE = 'must be between 1 and 500';
const digits = (reason: string) => z.string().regex(/^\d+$/, reason).transform(Number);

/** A number in the query, bounded. */
const count = digits(COUNT_RANGE)
  .refine((value) => value >= 1 && value <= 500, COUNT_RANGE)
  .default(100);
const offset = digits('must be 0 or more').default(0);

/** true, false, 1 or 0: one family of clients sends digits. */
const queryBoolean = z
  .enum(['true', 'false', '1', '0'], 'must be true or false')
  .transform((text) => text === 'true' || text === '1');

/** Epoch seconds; values from 1e12 on are read as milliseconds. */
const queryTime = z
  .string()
  .regex(/^\d+(\.\d+)?$/, 'must be epoch seconds')
  .transform((text) => (Number(text) >= 1e12 ? Math.floor(Number(text) / 1000) : Number(text)));

export const pageQuery = z.object({ count, offset });
export type PageQuery = z.output<typeof pageQuery>;

/** Query of GET /messages/list and /messages/list/{ChatID}. */
export const listMessagesQuery = pageQuery.extend({
  time_from: queryTime.optional(),
  time_to: queryTime.optional(),
  normal_types: queryBoolean.default(true),
  author: z
    .string()
    .regex(/^\d{7,15}(@s\.whatsapp\.net)?$/, 'must be a contact id')
    .transform((text) => text.replace('@s.whatsapp.net', ''))
    .optional(),
  from_me: queryBoolean.optional(),
  sort: z.enum(['asc', 'desc']).default('desc'),
});
export type ListMessagesQuery = z.output<typeof listMessagesQuery>;
