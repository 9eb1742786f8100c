import { z } from 'zod';
import { parsePublicHost } from './serve/public-host.js';

const environment = z.object({
  /** Port of the control API and of the WebSocket; 0 takes any free one. */
  PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  /** Address to listen on. */
  HOST: z.string().default('127.0.0.1'),
  /** Host, or host and port, under which clients reach this network: it is in every address that is announced and in the certificate. */
  PUBLIC_HOST: z
    .string()
    .refine(
      (given) => parsePublicHost(given) !== undefined,
      'must be a host or host:port, for example "simulator:3000" or "[::1]:3000"',
    )
    .optional(),
  /** Directory that keeps the network across restarts; without it everything is in memory. */
  DATA_DIR: z.string().min(1).optional(),
  /** How long the first linking code lives. */
  QR_FIRST_MS: z.coerce.number().int().positive().default(60_000),
  /** How long each later code lives. */
  QR_NEXT_MS: z.coerce.number().int().positive().default(20_000),
  /** How many codes a linking screen gets. */
  QR_COUNT: z.coerce.number().int().positive().default(6),
  /** How long a message can be edited. */
  EDIT_WINDOW_SECONDS: z.coerce
    .number()
    .int()
    .positive()
    .default(15 * 60),
  /** How long a message can be deleted for everybody. */
  DELETE_WINDOW_SECONDS: z.coerce
    .number()
    .int()
    .positive()
    .default(60 * 3600),
  /** Answers GET with a JSON list of logins that wait to be scanned: `[{"name": "…", "code": "…"}]`. */
  WAITING_LOGINS_URL: z.url().optional(),
  /** `true`: ends when its standard input closes, so that it never outlives who started it with a pipe. */
  END_WITH_INPUT: z.stringbool().default(false),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

/** The settings of the process; `given` go before its environment. Throws a ZodError that names what is wrong. */
export function readConfig(given: Record<string, string> = {}) {
  const set = environment.parse({ ...process.env, ...given });
  return {
    port: set.PORT,
    host: set.HOST,
    publicHost: set.PUBLIC_HOST,
    dataDir: set.DATA_DIR,
    qr: { firstMs: set.QR_FIRST_MS, nextMs: set.QR_NEXT_MS, count: set.QR_COUNT },
    windows: { editSeconds: set.EDIT_WINDOW_SECONDS, deleteSeconds: set.DELETE_WINDOW_SECONDS },
    waitingLoginsUrl: set.WAITING_LOGINS_URL,
    endWithInput: set.END_WITH_INPUT,
    logLevel: set.LOG_LEVEL,
  };
}
