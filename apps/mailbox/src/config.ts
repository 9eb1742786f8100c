import { z } from 'zod';

const environment = z
  .object({
    /** Port of the page and the HTTP API; 0 takes any free one. */
    PORT: z.coerce.number().int().min(0).max(65_535).default(0),
    /** Port of the SMTP server; 0 takes any free one. */
    SMTP_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
    /** Address to listen on, for both. */
    HOST: z.string().default('127.0.0.1'),
    LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  })
  .transform(({ PORT: port, SMTP_PORT: smtpPort, HOST: host, LOG_LEVEL: logLevel }) => ({
    port,
    smtpPort,
    host,
    logLevel,
  }));

/** @throws a ZodError that names what is wrong */
export function readConfig(source: NodeJS.ProcessEnv = process.env): z.output<typeof environment> {
  return environment.parse(source);
}
