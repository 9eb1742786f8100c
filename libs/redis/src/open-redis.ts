import { Redis, type RedisOptions } from 'ioredis';

/** What a connection does with commands, new ones and those in flight, while Redis is away. */
export type WhenAway =
  /** Keeps the command and sends it (again) once Redis is back: for commands that may run twice. */
  | 'wait'
  /** Rejects it at once and never sends it twice: for callers that have a better answer than waiting. */
  | 'fail';

/** The logger of outages; a pino logger fits. */
export interface RedisLog {
  warn(facts: object, message: string): void;
  info(facts: object, message: string): void;
}

export interface RedisSettings {
  /** `redis://[user:password@]host:port[/db]`, or `rediss://` for TLS. */
  url: string;
  /** Shown in CLIENT LIST: the app and what the connection is for. */
  name: string;
  /** Default 'wait'. */
  whenAway?: WhenAway;
  /** With 'fail': timeout of a command. It may have run. Default 2 s. */
  commandTimeoutMs?: number;
  log?: RedisLog;
}

/**
 * Connects (in the background) and keeps reconnecting for ever, at most 2 s apart. An outage is logged once when it
 * begins and once when it ends; it is never thrown.
 */
export function openRedis(settings: RedisSettings): Redis {
  const redis = new Redis(settings.url, {
    connectionName: settings.name,
    retryStrategy: reconnectDelayMs,
    reconnectOnError: isDemoted,
    ...(settings.whenAway === 'fail' ? failing(settings.commandTimeoutMs ?? 2_000) : { maxRetriesPerRequest: null }),
  });
  logOutages(redis, settings);
  return redis;
}

/** Commands on this connection from now to the end of this turn of the event loop leave in one write. */
export function inOneWrite(redis: Redis): void {
  const { stream } = redis;
  // There is no stream before the first connection: commands are queued then, and leave together anyway.
  if (stream === undefined) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}

/** With 0 retries everything in flight is rejected when the connection drops, and nothing is ever sent again. */
function failing(commandTimeoutMs: number): RedisOptions {
  return {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: commandTimeoutMs,
  };
}

function reconnectDelayMs(attempt: number): number {
  const jitterMs = Math.floor(Math.random() * 100);
  return Math.min(50 * 2 ** Math.min(attempt - 1, 10), 2_000) + jitterMs;
}

/** After a failover the old primary refuses writes; only a new connection reaches the new one. */
function isDemoted(error: Error): boolean {
  return error.message.startsWith('READONLY');
}

function logOutages(redis: Redis, { name, log }: RedisSettings): void {
  let away = false;
  // A listener must exist: without one ioredis prints every failed attempt on the console.
  redis.on('error', (error: Error) => {
    if (away) return;
    away = true;
    log?.warn({ redis: name, reason: error.message }, 'redis is away; reconnecting');
  });
  redis.on('ready', () => {
    if (!away) return;
    away = false;
    log?.info({ redis: name }, 'redis is back');
  });
}
