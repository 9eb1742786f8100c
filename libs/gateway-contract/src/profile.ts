import { z } from 'zod';
import { lines, text } from './fields.js';
import { anyMedia, mediaIdField } from './media.js';

const between = (kind: z.ZodString, low: number, high: number) => {
  const reason = `must have ${low} to ${high} characters`;
  return kind.max(high, { error: reason, abort: true }).min(low, reason);
};

const fields = { name: between(text, 3, 25).optional(), about: between(lines, 1, 139).optional() };
const hasAny = (body: { name?: unknown; about?: unknown; icon?: unknown }) =>
  body.name !== undefined || body.about !== undefined || body.icon !== undefined;
const NOTHING = 'one of name, about, icon is required';

/** Body, and form, of PATCH /users/profile. */
export const updateProfileBody = z
  .object({
    ...fields,
    icon: anyMedia.optional().describe('The picture: an http(s) URL, a data: URI, base64, or the id of an upload.'),
  })
  .refine(hasAny, NOTHING);
export type UpdateProfileBody = z.output<typeof updateProfileBody>;

/** The same, as sent to the worker. */
export const updateProfileInput = z.object({ ...fields, icon: mediaIdField.optional() }).refine(hasAny, NOTHING);
export type UpdateProfileInput = z.output<typeof updateProfileInput>;

/** Answer of GET /users/profile and GET /contacts/{ContactID}/profile. */
export interface UserProfile {
  name: string;
  about?: string;
  /** URL of the small and of the whole picture. */
  icon?: string;
  icon_full?: string;
  push_name?: string;
  verified_name?: string;
}
