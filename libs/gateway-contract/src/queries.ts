import { z } from 'zod';

const COUNT_RANGE = 'must be between 1 and 500';
const digits = (reason: string) =>
  z
    .string(reason)
    .regex(/^\d{1,15}$/, reason)
    .transform(Number);

/** A number in the query, bounded. */
const count = digits(COUNT_RANGE)
  .refine((value) => value >= 1 && value <= 500, COUNT_RANGE)
  .default(100)
  .meta({ type: 'integer', minimum: 1, maximum: 500, description: 'Most entries in the answer.' });
const offset = digits('must be 0 or more')
  .default(0)
  .meta({ type: 'integer', minimum: 0, description: 'Entries to leave out before the first.' });

/** true, false, 1 or 0: one family of clients sends digits. */
export const queryBoolean = z
  .enum(['true', 'false', '1', '0'], 'must be true or false')
  .transform((text) => text === 'true' || text === '1')
  .meta({ type: 'boolean' });

/** The latest time there is, in epoch seconds: what a `Date` can hold. */
export const LATEST_EPOCH_S = 8_640_000_000_000;

/** Epoch seconds; values from 1e12 on are read as milliseconds. */
export const queryTime = z
  .string('must be epoch seconds')
  .regex(/^\d{1,20}(\.\d{1,20})?$/, 'must be epoch seconds')
  .transform((text) => (Number(text) >= 1e12 ? Math.floor(Number(text) / 1000) : Number(text)))
  .refine((seconds) => seconds < LATEST_EPOCH_S, 'must be epoch seconds')
  .meta({ type: 'number', minimum: 0 });

/** What every list takes. */
export const pageQuery = z.object({ count, offset });
export type PageQuery = z.output<typeof pageQuery>;

/** How every list pages: `count` items from `offset`; `total` counts all that match. */
export interface Page {
  count: number;
  total: number;
  offset: number;
}

/** Query of GET /messages/{MessageID} and GET /groups/{GroupID}: query the network first. */
export const resyncQuery = z.object({
  resync: queryBoolean.default(false).describe('Query the network first, instead of answering from what is stored.'),
});
export type ResyncQuery = z.output<typeof resyncQuery>;

const COLOR_REASON = 'must be a colour like #1a2b3c';
const color = z
  .string(COLOR_REASON)
  .regex(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$/, COLOR_REASON)
  .transform((text) => (text.startsWith('#') ? text : `#${text}`));
const PIXELS_RANGE = 'must be between 100 and 2000';
const pixels = digits(PIXELS_RANGE)
  .refine((value) => value >= 100 && value <= 2_000, PIXELS_RANGE)
  .meta({ type: 'integer', minimum: 100, maximum: 2_000 });

/** Query of GET /users/login/image. `width` and `height` win over `size`; all are pixels. */
export const loginImageQuery = z.object({
  wakeup: queryBoolean.default(true).describe('false: answer only if a pairing is running.'),
  size: pixels.default(264),
  width: pixels.optional(),
  height: pixels.optional(),
  color_light: color.optional(),
  color_dark: color.optional(),
});
export type LoginImageQuery = z.output<typeof loginImageQuery>;
