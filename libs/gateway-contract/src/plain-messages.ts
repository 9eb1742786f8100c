import { z } from 'zod';
import { filledText, measure, longText, text, wholeNumber, writtenTextUpTo } from './fields.js';
import { anyMedia, mediaOptions, mediaIdField } from './media.js';
import { mentions, sendOptions } from './send-options.js';

const degrees = (limit: number) => {
  const reason = `must be between -${limit} and ${limit}`;
  return z.number('must be a number').min(-limit, reason).max(limit, reason);
};

/** Body of POST /messages/location. */
export const sendLocationBody = z.object({
  ...sendOptions,
  latitude: degrees(90),
  longitude: degrees(180),
  name: longText.optional(),
  address: longText.optional(),
  url: longText.optional(),
  preview: writtenTextUpTo(256 * 1024)
    .optional()
    .describe('A small picture of the map as data: URI.'),
  accuracy: measure.describe('Metres.'),
  speed: measure.describe('Metres per second.'),
  degrees: measure.describe('Clockwise from north.'),
  comment: longText.optional(),
});
export type SendLocationBody = z.output<typeof sendLocationBody>;

/** Body of POST /messages/contact. */
export const sendContactBody = z.object({ ...sendOptions, name: filledText, vcard: filledText });
export type SendContactBody = z.output<typeof sendContactBody>;

const linkPreview = {
  ...sendOptions,
  ...mediaOptions,
  body: filledText.describe('The text; the link is the first one in it.'),
  title: longText,
  description: longText.optional(),
  canonical: longText.optional().describe('The address the preview stands for; the link itself when absent.'),
  preview: writtenTextUpTo(256 * 1024).optional(),
  mentions: mentions.optional(),
};

/** Body, and form, of POST /messages/link_preview; `media` is the picture. */
export const sendLinkPreviewBody = z.object({ ...linkPreview, media: anyMedia.optional() });
export type SendLinkPreviewBody = z.output<typeof sendLinkPreviewBody>;

/** The same, as sent to the worker. */
export const sendLinkPreviewInput = z.object({ ...linkPreview, media: mediaIdField.optional() });
export type SendLinkPreviewInput = z.output<typeof sendLinkPreviewInput>;

const OPTIONS_RANGE = 'must have 2 to 12 entries';

/** Body of POST /messages/poll. */
export const sendPollBody = z.object({
  ...sendOptions,
  title: filledText,
  options: z
    .array(filledText)
    .min(2, OPTIONS_RANGE)
    .max(12, OPTIONS_RANGE)
    .refine((options) => new Set(options).size === options.length, 'must be unique'),
  count: wholeNumber(0, 1).default(0).describe('1 = one choice, 0 = any number.'),
});
export type SendPollBody = z.output<typeof sendPollBody>;

const PREVIEW_TYPES = ['group_picture', 'thumbnail', 'media', 'style1', 'style2', 'style3', 'none'] as const;

const groupInvite = {
  to: sendOptions.to,
  quoted: sendOptions.quoted,
  edit: sendOptions.edit,
  ...mediaOptions,
  title: longText.optional(),
  body: longText.optional().describe('`%URL%` in it is replaced by the link.'),
  preview_type: z.enum(PREVIEW_TYPES).default('group_picture'),
  preview: writtenTextUpTo(256 * 1024).optional(),
  mentions: mentions.optional(),
};

/** Body of POST /groups/link/{InviteCode} when it has `to`: the link is sent, the group is never joined. */
export const sendGroupInviteBody = z.object({ ...groupInvite, media: anyMedia.optional() });
export type SendGroupInviteBody = z.output<typeof sendGroupInviteBody>;

/** The same, as sent to the worker. */
export const sendGroupInviteInput = z.object({ ...groupInvite, inviteCode: text, media: mediaIdField.optional() });
export type SendGroupInviteInput = z.output<typeof sendGroupInviteInput>;
