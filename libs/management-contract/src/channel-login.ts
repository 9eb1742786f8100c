import { plainText } from '@dormouse/gateway-contract';
import { z } from 'zod';

/** Query of GET /api/v1/channels/{id}/login. */
export const loginQuery = z.object({
  /** The number to link, with country code, for a code of eight letters instead of one to scan. `+`, spaces and hyphens are ignored. */
  phone: plainText
    .transform((given) => given.replaceAll(/[\s+()-]/g, ''))
    .refine((digits) => /^[1-9]\d{6,14}$/.test(digits), 'must be a number with country code, such as 4915112345678')
    .optional(),
});
export type LoginQuery = z.output<typeof loginQuery>;

/**
 * Why there is no code. `stopped`: none was used for a long time. `phone_refused`: the network gives no letters for this number.
 * `proxy_*`: see the settings. `unavailable`: the network or the worker of the channel, as `details` explains. `region_away`: its database.
 */
export const LOGIN_FAILURES = [
  ...([
    'stopped',
    'phone_refused',
    'proxy_unreachable',
    'proxy_refused',
    'unavailable',
    'region_away',
    'deleted',
  ] as const),
] as const;
export type LoginFailure = (typeof LOGIN_FAILURES)[number];

/**
 * Answer of GET /api/v1/channels/{id}/login, and `data` of its server-sent events, whose names are those of `event`. A stream
 * begins with what is true now, so a client that reconnects misses nothing; a later event always replaces an earlier one.
 */
export const loginStep = z.discriminatedUnion('event', [
  /** A code that is valid now: draw `code`, or show its eight letters if `by` is `phone`. */
  z.object({
    event: z.literal('code'),
    by: z.enum(['scan', 'phone']),
    code: z.string(),
    valid_until: z.int().describe('Epoch milliseconds.'),
    valid_ms: z.int().describe('How long it is valid from now on, for browsers whose clock is wrong.'),
  }),
  /** The number is linked. Sent again when its name is known; then, or after ten seconds, the stream ends. */
  z.object({ event: z.literal('linked'), phone: z.string(), name: z.string().optional() }),
  /** There is no code now. */
  z.object({
    event: z.literal('failed'),
    reason: z.enum(LOGIN_FAILURES),
    details: z.string(),
    retry_after_s: z
      .int()
      .optional()
      .describe('Seconds until the next try, which the stream makes by itself; absent: the stream ends.'),
  }),
]);
export type LoginStep = z.output<typeof loginStep>;
