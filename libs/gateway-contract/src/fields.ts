import { z } from 'zod';
import { MESSAGE_ID_PATTERN } from './ids.js';
import { hasUnstorable } from './unstorable.js';

/**
 * Kinds of fields, each with the error text for values that do not fit. `writtenText` is what people write to each
 * other: any characters; those that the store cannot hold are replaced when it is stored. All other text (ids, names,
 * addresses, settings) is `text`.
 */
export const writtenText = z.string('must be text');

const NOT_PLAIN = 'must not contain control characters or unpaired surrogates';
export const text = writtenText.refine((value) => !hasUnstorable(value), NOT_PLAIN);
/** The same with line breaks in it. */
export const lines = writtenText.refine((value) => !hasUnstorable(value.replaceAll('\n', '')), NOT_PLAIN);
export const flag = z.boolean('must be true or false');

const between = (low: number, high: number) => `must be between ${low} and ${high}`;

/** A number from `low` to `high`, both included. */
export const bounded = (low: number, high: number) =>
  z.number('must be a number').min(low, between(low, high)).max(high, between(low, high));

/** A whole number from `low` to `high`, both included. */
export const wholeNumber = (low: number, high: number) =>
  z.int('must be a whole number').min(low, between(low, high)).max(high, between(low, high));

/**
 * Something measured: a whole number as wide as the network's own fields. Phones write -1 for what they could not
 * measure; a negative value counts as absent.
 */
export const measure = wholeNumber(-2_147_483_648, 2_147_483_647)
  .transform((value) => (value < 0 ? undefined : value))
  .optional();

/** Text of at most `max` UTF-16 code units; longer text is not looked at further. */
export const textUpTo = (max: number) => upTo(text, max);
export const writtenTextUpTo = (max: number) => upTo(writtenText, max);

function upTo(kind: z.ZodString, max: number) {
  return kind.max(max, { error: `must have at most ${max} characters`, abort: true });
}

/** Longest text that is accepted, in UTF-16 code units. */
export const MAX_TEXT_LENGTH = 65_536;
export const longText = writtenTextUpTo(MAX_TEXT_LENGTH);

/** Text that is not blank. */
export const filledText = longText.refine((value) => /\S/.test(value), 'must not be empty');

/** A field that names a message. */
export const messageIdField = text.regex(MESSAGE_ID_PATTERN, 'not a message id');

/** A list that drops repetitions and keeps the order of what remains. */
export const distinct = <Item extends z.ZodType>(item: Item, max: number) =>
  z
    .array(item)
    .min(1, 'must have at least 1 entry')
    .max(max, `must have at most ${max} entries`)
    .transform((items) => [...new Set(items)]);
