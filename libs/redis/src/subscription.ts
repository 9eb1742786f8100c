import type { Redis } from 'ioredis';
import pTimeout from 'p-timeout';

/** Timeout of QUIT; then the connection is closed without it. */
const QUIT_TIMEOUT_MS = 1_000;

/** A subscription to pub/sub channels on a connection of its own. */
export interface Subscription {
  /** Settles once Redis has confirmed the subscription for the first time. */
  readonly started: Promise<void>;
  /** Whether a message published now is received. False from a drop of the connection until Redis has confirmed again. */
  isLive(): boolean;
  close(): Promise<void>;
}

/**
 * Subscribes to one or more pub/sub channels, and again after every reconnect. Messages published during an outage are
 * lost: the subscriber must be able to do without them.
 * @param redis any connection to the same server; it is duplicated, because a subscribed connection does nothing else
 * @param onMessage called with each message
 * @param onResubscribed called after each outage, once messages are received again
 */
export function subscribeTo(
  redis: Redis,
  channel: string | readonly string[],
  onMessage: (message: string) => void,
  onResubscribed?: () => void,
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
  let resolveStarted: () => void;
  const started = new Promise<void>((resolve) => (resolveStarted = resolve));
  // Outages are logged by the connection that this one is a duplicate of.
  connection.on('error', () => undefined);
  connection.on('close', () => (live = false));
  connection.on('ready', () => {
    connection.subscribe(...channels).then(
      () => {
        live = connection.status === 'ready';
        if (live && wasLive) onResubscribed?.();
        wasLive ||= live;
        resolveStarted();
      },
      // Dropped before the confirmation: the next 'ready' subscribes again.
      () => undefined,
    );
  });
  connection.on('message', (_channel: string, message: string) => onMessage(message));
  return {
    started,
    isLive: () => live,
    close: async () => {
      live = false;
      await closeRedis(connection);
    },
  };
}

/** Ends a connection: with QUIT while it is up, at once while it is down. Never throws. */
export async function closeRedis(redis: Redis): Promise<void> {
  if (redis.status === 'ready') {
    await pTimeout(redis.quit(), { milliseconds: QUIT_TIMEOUT_MS }).catch(() => undefined);
  }
  redis.disconnect();
}
