import type { LoggerService } from '@nestjs/common';
import { tracedFacts } from '@dormouse/traces';
import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger } from 'pino';

/** The levels of a log that a part of a server uses: facts without secrets, and what happened. A {@link Logger} fits. */
export type LogOf<Level extends 'debug' | 'info' | 'warn' | 'error'> = Readonly<
  Record<Level, (facts: object, text: string) => void>
>;

export interface LogSettings {
  /** The app's name, on every line. */
  name: string;
  level?: string;
  /** Default: standard output. */
  destination?: DestinationStream;
}

/** Names under which secrets travel; their values never reach the log, at the top or one level down. */
const SECRET_NAMES = ['authorization', 'Authorization', 'token', 'cookie', 'password', 'key', 'secret'];

/**
 * A JSON log, one line per entry. Tokens and authorization headers are cut out, errors are reduced to what cannot
 * hold a payload. With traces on, every line within a request names it and its trace. Message bodies and session material must never be logged: they are not recognized here.
 */
export function openLog({ name, level = 'info', destination }: LogSettings): Logger {
  const paths = SECRET_NAMES.flatMap((secret) => [secret, `*.${secret}`, `*.headers.${secret}`]);
  const options = {
    name,
    level,
    redact: { paths, censor: '[secret]' },
    mixin: tracedFacts,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError, error: describeError, url: withoutToken },
  };
  return destination ? pino(options, destination) : pino(options);
}

export interface DescribedError {
  type: string;
  message: string;
  code?: string | number;
  stack?: string;
  cause?: DescribedError;
}

/**
 * Name, message, code, stack and causes of an error. Other properties are left out on purpose: Redis and PostgreSQL
 * errors carry the arguments of the command that failed.
 */
export function describeError(error: unknown): DescribedError {
  if (!isErrorLike(error)) return { type: typeof error, message: 'not an error object' };
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: withoutToken(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: withoutToken(error.stack) }),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

/** By shape: an error of another realm is no instance of this realm's Error. */
function isErrorLike(value: unknown): value is Error {
  return typeof value === 'object' && value !== null && 'name' in value && 'message' in value;
}

/** Text with the value of every `token=` query parameter or fragment and every channel token cut out. */
export function withoutToken(text: string): string {
  return text.replace(/([?&#]token=)[^&\s#]*/gi, '$1[secret]').replace(/\bdm_([a-z]+)_[0-9A-Za-z]+/g, 'dm_$1_[secret]');
}

/** Contexts in which Nest logs what it wires at start: of interest for debugging only. */
const WIRING = new Set(['InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestFactory', 'NestApplication']);

/** Nest's own messages as lines of our log. */
export class NestLog implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    const context = contextOf(rest);
    this.write(context && WIRING.has(context) ? 'debug' : 'info', message, context);
  }

  error(message: unknown, ...rest: unknown[]): void {
    const [stack] = rest.length > 1 ? rest : [];
    this.write('error', message, contextOf(rest), typeof stack === 'string' ? withoutToken(stack) : undefined);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, contextOf(rest));
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, contextOf(rest));
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, contextOf(rest));
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, contextOf(rest));
  }

  private write(
    level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal',
    message: unknown,
    context?: string,
    stack?: string,
  ) {
    const facts = isErrorLike(message) ? { err: message, context } : { context, stack };
    this.logger[level](facts, isErrorLike(message) ? message.message : withoutToken(String(message)));
  }
}

function contextOf(rest: unknown[]): string | undefined {
  const last = rest.at(-1);
  return typeof last === 'string' ? last : undefined;
}
