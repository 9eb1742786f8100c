import { z } from 'zod';
import { bounded, flag, messageIdField, text, wholeNumber } from './fields.js';
import { recipientSchema } from './ids.js';

/** A person or a group named in a text. */
const mention = text.regex(
  /^\d{7,15}(@s\.whatsapp\.net)?$|^\d{10,31}@g\.us$/,
  'must be phone digits, <digits>@s.whatsapp.net or a group id',
);

/** The people and groups that a text or caption names. */
export const mentions = z.array(mention).describe('People and groups that the text names.');

/** Seconds an indicator is shown before a send. */
export const indicatorSeconds = bounded(0, 60);

/** What every send takes. */
export const sendOptions = {
  to: recipientSchema.describe(
    'Who receives it: digits of a phone number without +, `<digits>@s.whatsapp.net`, or `<group>@g.us`.',
  ),
  quoted: messageIdField.optional().describe('The message this one answers.'),
  edit: messageIdField
    .optional()
    .describe('An own message this one replaces: the rules of PUT /messages/{MessageID} apply.'),
  typing_time: indicatorSeconds
    .optional()
    .describe('Seconds the typing indicator is shown before the send; the call returns after it.'),
  ephemeral: wholeNumber(1, 604_800).optional().describe('Seconds until the message disappears.'),
  view_once: flag.optional().describe('The recipient can open it once.'),
} as const;

/** How long the indicators of a send delay it, in milliseconds: added to the caller's timeout. */
export function indicatorsLastMs(input: {
  typing_time?: number | undefined;
  recording_time?: number | undefined;
}): number {
  return ((input.typing_time ?? 0) + (input.recording_time ?? 0)) * 1_000;
}
