/**
 * Every key and every pub/sub channel of Dormouse in a region's Redis, apart from the keys BullMQ makes below
 * `bull:<queue>:` (queue names: `@dormouse/queues`). All of it can be lost: Redis holds calls in flight, counters and
 * signals, never state of a session. Redis runs without persistence, because texts of customers pass through it.
 */
export const redisKeys = {
  /** Pub/sub channel on which one caller of commands receives the replies to its calls. */
  replies: (clientId: string) => `replies.${clientId}`,
  /** Pub/sub channel: events were written for the channel whose id is the message, which has webhooks. */
  eventsReady: 'signals.events-ready',
  /** The same for channels without webhooks; only event streams subscribe to it. */
  eventsToPull: 'signals.events-to-pull',
  /** Prefix of the counters of one rate limit; the limiter appends `:<channel id>`. */
  rateLimit: (limit: string) => `rate.${limit}`,
} as const;
