import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/** A server that does not answer QUIT within this time is left without a goodbye. */
const QUIT_WITHIN_MS = 1_000;

/** Pub/sub channels, heard on a connection of their own. */
export interface Subscription {
  /** Settles once they are heard for the first time. */
  readonly started: Promise<void>;
  /** Would a message published now be heard? False from the drop of the connection until Redis has confirmed anew. */
  isLive(): boolean;
  close(): Promise<void>;
}

/**
 * Hears a pub/sub channel, or several, and keeps hearing them across reconnects. Messages published during an outage are lost:
 * whoever listens must be able to do without them.
 * @param redis any connection to the same server; it is duplicated, because a subscribed connection does nothing else
 * @param hearAgain is told after each outage, once messages are heard again
 */
export function subscribeTo(
  redis: Redis,
  channel: string | readonly string[],
  hear: (message: string) => void,
  hearAgain?: () => void,
): Subscription {
  const channels = [channel].flat();
  const connection = redis.duplicate({
    connectionName: `${redis.options.connectionName ?? 'redis'}:${channels.join('+')}`,
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
    autoResubscribe: false,
    commandTimeout: undefined,
  });
  let live = false;
  let wasLive = false;
  let tellStarted: () => void;
  const started = new Promise<void>((resolve) => (tellStarted = resolve));
  // Outages are told by the connection this one was made from.
  connection.on('error', () => undefined);
  connection.on('close', () => (live = false));
  connection.on('ready', () => {
    connection.subscribe(...channels).then(
      () => {
        live = connection.status === 'ready';
        if (live && wasLive) hearAgain?.();
        wasLive ||= live;
        tellStarted();
      },
      // Dropped before the confirmation: the next 'ready' subscribes again.
      () => undefined,
    );
  });
  connection.on('message', (_channel: string, message: string) => hear(message));
  return {
    started,
    isLive: () => live,
    close: async () => {
      live = false;
      await closeRedis(connection);
    },
  };
}

/** Ends a connection: politely while it is up, at once while it is down. Never throws. */
export async function closeRedis(redis: Redis): Promise<void> {
  if (redis.status === 'ready') {
    const timer = new AbortController();
    const tooLong = delay(QUIT_WITHIN_MS, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([redis.quit().catch(() => undefined), tooLong]);
    timer.abort();
  }
  redis.disconnect();
}
