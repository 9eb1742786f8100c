import { redisKeys, subscribeTo, type Redis, type Subscription } from '@dormouse/redis';

/*
 * A signal makes its subscribers query the database now. Losing one is harmless: every subscriber polls as well.
 */

/** Signals that events of a channel with webhooks were committed; the dispatcher subscribes to it. */
export async function publishEventsReady(redis: Redis, channelId: string): Promise<void> {
  await redis.publish(redisKeys.eventsReady, channelId);
}

/** Separates the ids in a signal about several channels; no id contains it. */
const ID_SEPARATOR = ' ';

/** Signals that events of channels without webhooks were committed; event streams subscribe to it. */
export async function publishEventsToPull(redis: Redis, channelIds: readonly string[]): Promise<void> {
  await redis.publish(redisKeys.eventsToPull, channelIds.join(ID_SEPARATOR));
}

/** Calls `onEvents` for every channel with webhooks whose events were committed, until closed. */
export function subscribeEventsReady(redis: Redis, onEvents: (channelId: string) => void): Subscription {
  return subscribeTo(redis, redisKeys.eventsReady, onEvents);
}

/** Calls `onEvents` for every channel whose events were committed, with webhooks or without, until closed. */
export function subscribeAllEvents(redis: Redis, onEvents: (channelId: string) => void): Subscription {
  const onSignal = (channelIds: string): void => channelIds.split(ID_SEPARATOR).forEach((id) => onEvents(id));
  return subscribeTo(redis, [redisKeys.eventsReady, redisKeys.eventsToPull], onSignal);
}
