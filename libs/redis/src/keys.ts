/**
 * Every key and every pub/sub channel of Dormouse in a region's Redis, apart from the keys BullMQ makes below
 * `bull:<queue>:` (queue names: `@dormouse/queues`). Nothing in here survives being lost: Redis holds calls in
 * flight, counters and wake signals, never state of a session. So Redis is run without files: what people write passes
 * through it.
 */
export const redisKeys = {
  /** Pub/sub channel on which one caller of commands hears the answers to its own calls. */
  replies: (clientId: string) => `replies.${clientId}`,
  /** Pub/sub channel: events were written for the channel whose id is the message, which has webhooks. */
  eventsReady: 'signals.events-ready',
  /** The same of a channel without webhooks: only those who pull its events want to know. */
  eventsToPull: 'signals.events-to-pull',
  /** Pub/sub channel: the record of the channel whose id is the message has changed (settings, deleted). */
  channelChanged: 'signals.channel-changed',
  /** Prefix of the counters of one rate limit; the limiter appends `:<channel id>`. */
  rateLimit: (limit: string) => `rate.${limit}`,
} as const;
