import { z } from 'zod';
import { recipientSchema } from './ids.js';

/** Body of PUT /presences/me. */
export const setOwnPresenceBody = z.object({ presence: z.enum(['online', 'offline']) });
export type SetOwnPresenceBody = z.output<typeof setOwnPresenceBody>;

const indicator = z
  .enum(['typing', 'recording', 'pause', 'paused'])
  .transform((presence) => (presence === 'paused' ? 'pause' : presence));

/** Body of PUT /presences/{EntryID}. */
export const sendPresenceBody = z.object({
  presence: indicator,
  delay: z
    .number('must be a number')
    .min(0, 'must be 0 or more')
    .max(86_400, 'must be at most 86400')
    .default(0)
    .describe('Seconds after which the indicator is cleared; the call does not wait for it. 0 = left as it is.'),
});
export type SendPresenceBody = z.output<typeof sendPresenceBody>;

/** The same, as sent to the worker. */
export const sendPresenceInput = sendPresenceBody.extend({ to: recipientSchema });
export type SendPresenceInput = z.output<typeof sendPresenceInput>;

/** EntryID of PUT /presences/{EntryID}: a recipient, so that a wrong form is a 400 and not a 404. */
export const entryIdPath = z.object({ EntryID: recipientSchema });

/** Presence of a contact, as in events. */
export interface Presence {
  contact_id: string;
  status?: 'online' | 'offline' | 'typing' | 'recording' | 'pending';
  /** Epoch seconds. */
  last_seen?: number;
}
