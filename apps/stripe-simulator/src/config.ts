import { z } from 'zod';

const environment = z.object({
  /** Port of the API, the pages and the control API; 0 takes any free one. */
  PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  /** Address to listen on. */
  HOST: z.string().default('127.0.0.1'),
  /** Address of the hosted pages as browsers reach them, where it is not the one listened on. */
  PUBLIC_URL: z.url().optional(),
  /** Directory that keeps the state across restarts; without it everything is in memory. */
  DATA_DIR: z.string().min(1).optional(),
  /** The API key that requests must carry. */
  SECRET_KEY: z
    .string()
    .regex(/^sk_(test|live)_\w+$/, 'must begin with sk_test_ or sk_live_')
    .default('sk_test_simulated'),
  /** Address of a webhook endpoint that is there from the start; needs WEBHOOK_SECRET. */
  WEBHOOK_URL: z.url().optional(),
  /** Secret that signs what is sent to WEBHOOK_URL. */
  WEBHOOK_SECRET: z.string().startsWith('whsec_').optional(),
  /** `true`: ends when its standard input closes, so that it never outlives who started it with a pipe. */
  END_WITH_INPUT: z.stringbool().default(false),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

/** The settings of the process. Throws a ZodError that names what is wrong. */
export function readConfig() {
  const set = environment
    .refine((given) => (given.WEBHOOK_URL === undefined) === (given.WEBHOOK_SECRET === undefined), {
      error: 'WEBHOOK_URL and WEBHOOK_SECRET are set together or not at all',
      path: ['WEBHOOK_SECRET'],
    })
    .parse(process.env);
  const { WEBHOOK_URL: url, WEBHOOK_SECRET: secret } = set;
  return {
    port: set.PORT,
    host: set.HOST,
    publicUrl: set.PUBLIC_URL?.replace(/\/+$/, ''),
    dataDir: set.DATA_DIR,
    secretKey: set.SECRET_KEY,
    webhook: url !== undefined && secret !== undefined ? { url, secret } : undefined,
    endWithInput: set.END_WITH_INPUT,
    logLevel: set.LOG_LEVEL,
  };
}
