import type { z } from 'zod';

/** Request and answer of one operation of the management API. */
export interface Operation {
  method: 'get' | 'post' | 'put' | 'delete';
  /** Below the prefix, with `{id}` for path parameters. */
  path: string;
  summary: string;
  query?: z.ZodObject;
  body?: z.ZodObject;
  /** Status and shape of success. */
  status: 200 | 201;
  answer: z.ZodType;
  /** Accepted and stored, not carried out yet: 202 with the same shape. Repeat the request until it is 200. */
  later?: true;
  /** Failures beyond 400, 401, 429 and 502. */
  failures: readonly (403 | 404 | 503)[];
  /** Needs an operator key; an account key gets 403. */
  for?: 'operators';
}
