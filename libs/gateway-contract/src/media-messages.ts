import { z } from 'zod';
import { flag, measure, longText, text, writtenTextUpTo } from './fields.js';
import { anyMedia, fileNameField, mediaOptions, mediaIdField } from './media.js';
import { indicatorSeconds, mentions, sendOptions } from './send-options.js';

const mediaSend = {
  ...sendOptions,
  ...mediaOptions,
  media: anyMedia.describe('The file: an http(s) URL, a data: URI, base64, or the id of an upload.'),
};
/** A small picture as data: URI, shown before the media is loaded; made from the media when absent. */
const preview = writtenTextUpTo(256 * 1024).optional();
const captioned = { caption: longText.optional(), mentions: mentions.optional() };
const pixels = { width: measure, height: measure };

/** Body, and form, of POST /messages/image. */
export const sendImageBody = z.object({ ...mediaSend, ...captioned, ...pixels, preview });
export type SendImageBody = z.output<typeof sendImageBody>;

/** Body, and form, of POST /messages/video. */
export const sendVideoBody = z.object({ ...mediaSend, ...captioned, ...pixels, preview });
export type SendVideoBody = z.output<typeof sendVideoBody>;

/** Body, and form, of POST /messages/audio. */
export const sendAudioBody = z.object({
  ...mediaSend,
  seconds: measure.describe('Duration; found in the file when absent.'),
  background_color: text.regex(/^#[0-9a-fA-F]{6,8}$/, 'must be a color like #00000000').optional(),
});
export type SendAudioBody = z.output<typeof sendAudioBody>;

/** Body, and form, of POST /messages/voice. */
export const sendVoiceBody = z.object({
  ...mediaSend,
  seconds: measure,
  recording_time: indicatorSeconds
    .optional()
    .describe('Seconds the recording indicator is shown before the send; the call returns after it.'),
  waveform: writtenTextUpTo(1_024)
    .optional()
    .describe('64 loudness values from 0 to 100, base64; computed when absent.'),
});
export type SendVoiceBody = z.output<typeof sendVoiceBody>;

/** Body, and form, of POST /messages/document. */
export const sendDocumentBody = z.object({ ...mediaSend, ...captioned, filename: fileNameField.optional() });
export type SendDocumentBody = z.output<typeof sendDocumentBody>;

/** Body, and form, of POST /messages/sticker. */
export const sendStickerBody = z.object({ ...mediaSend, ...pixels, animated: flag.optional() });
export type SendStickerBody = z.output<typeof sendStickerBody>;

/**
 * Each send as sent to the worker: the media is in the media store by then. Parsing the output again changes nothing:
 * the worker parses what the edge has already parsed.
 */
const stored = { media: mediaIdField };
export const sendImageInput = sendImageBody.extend(stored);
export const sendVideoInput = sendVideoBody.extend(stored);
export const sendAudioInput = sendAudioBody.extend(stored);
export const sendVoiceInput = sendVoiceBody.extend(stored);
export const sendDocumentInput = sendDocumentBody.extend(stored);
export const sendStickerInput = sendStickerBody.extend(stored);
export type SendImageInput = z.output<typeof sendImageInput>;
export type SendVideoInput = z.output<typeof sendVideoInput>;
export type SendAudioInput = z.output<typeof sendAudioInput>;
export type SendVoiceInput = z.output<typeof sendVoiceInput>;
export type SendDocumentInput = z.output<typeof sendDocumentInput>;
export type SendStickerInput = z.output<typeof sendStickerInput>;
