import { redisKeys, subscribeTo, type Redis, type Subscription } from '@dormouse/redis';

/*
 * Signals say "look now". Losing one is harmless: whoever hears them also looks by itself from time to time.
 */

/** Events of the channel were committed; the dispatcher may look. */
export async function publishEventsReady(redis: Redis, channelId: string): Promise<void> {
  await redis.publish(redisKeys.eventsReady, channelId);
}

/** Hears of every channel whose events were committed, until closed. */
export function subscribeEventsReady(redis: Redis, hear: (channelId: string) => void): Subscription {
  return subscribeTo(redis, redisKeys.eventsReady, hear);
}

/** The channel's record changed: settings, token, deletion. */
export async function publishChannelChanged(redis: Redis, channelId: string): Promise<void> {
  await redis.publish(redisKeys.channelChanged, channelId);
}

/** Hears of every channel whose record changed, until closed. */
export function subscribeChannelChanged(redis: Redis, hear: (channelId: string) => void): Subscription {
  return subscribeTo(redis, redisKeys.channelChanged, hear);
}
