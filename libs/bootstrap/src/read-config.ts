import { isIP } from 'node:net';
import { z } from 'zod';

/** What the environment is missing or holds wrongly, one line per variable. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`the environment is not usable:\n  ${problems.join('\n  ')}`);
    this.name = 'ConfigError';
  }
}

/**
 * Reads the environment once, at start. An empty variable counts as absent. The schema is an object of variables,
 * usually with a `.transform` into the shape the app uses.
 * @throws {ConfigError} naming every variable that is wrong; values are not repeated, they may be secret
 */
export function readConfig<Schema extends z.ZodType>(
  schema: Schema,
  environment: Readonly<Record<string, string | undefined>>,
): z.output<Schema> {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  throw new ConfigError(
    result.error.issues.map((issue) => {
      const variable = String(issue.path[0] ?? 'environment');
      const within = issue.path.slice(1).join('.');
      const missing = issue.path.length === 1 && !Object.hasOwn(given, variable);
      return `${variable}: ${missing ? 'required' : [within, issue.message].filter(Boolean).join(' ')}`;
    }),
  );
}

const KEY_BYTES = 32;

/** Variables as zod types: everything in the environment is text. */
export const variable = {
  /** A whole number in the range. */
  integer: (low = 0, high = Number.MAX_SAFE_INTEGER) =>
    z
      .string()
      .regex(/^\d+$/, 'must be a whole number')
      .transform(Number)
      .refine((value) => value >= low && value <= high, `must be between ${low} and ${high}`),
  /** A port; 0 lets the system choose. */
  port: () => variable.integer(0, 65_535),
  /** true or false, also 1 or 0. */
  flag: () =>
    z.enum(['true', 'false', '1', '0'], 'must be true or false').transform((text) => text === 'true' || text === '1'),
  /** A URL of one of the schemes, e.g. `'redis', 'rediss'`. */
  url: (...schemes: [string, ...string[]]) =>
    z
      .string()
      .refine(
        (text) => URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1)),
        `must be a URL of ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
      ),
  /** Addresses and networks in CIDR notation, separated by commas. */
  networks: () =>
    z
      .string()
      .transform((text) => text.split(',').map((one) => one.trim()))
      .refine(
        (list) => list.every((one) => isIP(one) !== 0 || /^[\da-f.:]+\/\d{1,3}$/i.test(one)),
        'must be addresses or networks such as 10.0.0.0/8, separated by commas',
      ),
  /** JSON of the schema's shape. */
  json: <Schema extends z.ZodType>(schema: Schema) =>
    z
      .string()
      .transform((text, context): unknown => {
        try {
          return JSON.parse(text);
        } catch {
          context.addIssue({ code: 'custom', message: 'must be JSON' });
          return z.NEVER;
        }
      })
      .pipe(schema),
  /** A key: 32 bytes in base64. */
  key: () =>
    z
      .string()
      .transform((text) => Buffer.from(text, 'base64'))
      .refine((bytes) => bytes.length === KEY_BYTES, `must be ${KEY_BYTES} bytes in base64`),
  /** pino's levels. */
  logLevel: () => z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
} as const;
