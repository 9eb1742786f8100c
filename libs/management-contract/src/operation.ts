import type { z } from 'zod';

/** What one operation of the management API takes and answers. */
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
  /** Taken down for good and not reached yet: 202 with the same shape. Ask for it again until it says so. */
  later?: true;
  /** Failures beyond 400, 401, 429 and 502. */
  failures: readonly (403 | 404 | 503)[];
  /** Needs an operator key; an account key gets 403. */
  for?: 'operators';
}
