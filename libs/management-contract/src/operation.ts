import type { z } from 'zod';
import type { Access } from './access.js';

/** Request and answer of one operation of the management API. */
export interface Operation {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Below the prefix, with `{id}` for path parameters. */
  path: string;
  summary: string;
  access: Access;
  query?: z.ZodObject;
  body?: z.ZodObject;
  /** Status and shape of success; 204 has no body, so no shape. */
  status: 200 | 201 | 204;
  answer?: z.ZodType;
  /** Accepted and stored, not carried out yet: 202 with the same shape. What that means here, for the description. */
  later?: string;
  /** Failures beyond 400, 401, 403, 429 and 502. */
  failures: readonly (404 | 409 | 413 | 503)[];
}
