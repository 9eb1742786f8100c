import { z } from 'zod';
import type { AnswerName } from '../answer-schemas.js';
import type { ErrorStatus } from '../errors.js';

/** One of the 56 calls, as the API document describes it. */
export interface Endpoint {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  path: string;
  tag: 'Channel' | 'Messages' | 'Chats' | 'Contacts' | 'Groups' | 'Media' | 'Presences';
  /** A few words: what it does. */
  summary: string;
  /** What one has to know beside the fields. */
  description?: string;
  query?: z.ZodObject;
  /** The body, or the bodies that mean different things; with `isOptional` it may be left out. */
  bodies?: readonly z.ZodType[];
  isOptional?: boolean;
  /** Field of a form that holds a file: the body is accepted as a form, too. */
  fileField?: string;
  /** The body may be the bytes of a file. */
  takesBytes?: boolean;
  /** What a success is; a media type for bytes. Absent: it never succeeds. */
  answers?: readonly AnswerName[] | `${string}/${string}`;
  /** Statuses of failures beside those that every call has. */
  failures: readonly ErrorStatus[];
  /** `/health` alone answers whether or not the channel is billable, and from memory. */
  failsRarely?: boolean;
}

/** Every call that needs a token and a billable channel can fail with these. */
export const COMMON_FAILURES = [401, 402, 429, 502] as const satisfies readonly ErrorStatus[];

/** A body that means something by having no fields: an empty object. */
export const nothing = z.object({});
