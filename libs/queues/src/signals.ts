import { redisKeys, subscribeTo, type Redis, type Subscription } from '@dormouse/redis';

/*
 * Signals say "look now". Losing one is harmless: whoever hears them also looks by itself from time to time.
 */

/** Events of the channel, which has webhooks, were committed; the dispatcher may look. */
export async function publishEventsReady(redis: Redis, channelId: string): Promise<void> {
  await redis.publish(redisKeys.eventsReady, channelId);
}

/** Stands between the ids of a signal about several channels; no id holds it. */
const BETWEEN_IDS = ' ';

/** Events of channels without webhooks were committed; whoever pulls them may look. */
export async function publishEventsToPull(redis: Redis, channelIds: readonly string[]): Promise<void> {
  await redis.publish(redisKeys.eventsToPull, channelIds.join(BETWEEN_IDS));
}

/** Hears of every channel with webhooks whose events were committed, until closed. */
export function subscribeEventsReady(redis: Redis, hear: (channelId: string) => void): Subscription {
  return subscribeTo(redis, redisKeys.eventsReady, hear);
}

/** Hears of every channel whose events were committed, with webhooks or without, until closed. */
export function subscribeAllEvents(redis: Redis, hear: (channelId: string) => void): Subscription {
  const hearEach = (channelIds: string): void => channelIds.split(BETWEEN_IDS).forEach((channelId) => hear(channelId));
  return subscribeTo(redis, [redisKeys.eventsReady, redisKeys.eventsToPull], hearEach);
}

/** The channel's record changed: settings, token, deletion. */
export async function publishChannelChanged(redis: Redis, channelId: string): Promise<void> {
  await redis.publish(redisKeys.channelChanged, channelId);
}

/** Hears of every channel whose record changed, until closed. */
export function subscribeChannelChanged(redis: Redis, hear: (channelId: string) => void): Subscription {
  return subscribeTo(redis, redisKeys.channelChanged, hear);
}
