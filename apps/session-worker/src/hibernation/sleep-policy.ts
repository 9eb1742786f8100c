/**
 * When a session falls asleep, and when it is woken on schedule.
 *
 * Guarantee: every linked channel connects at least every three days (the network unlinks devices that stay away for
 * thirty days), and wakes are spread evenly over their period, also if channels fall asleep together.
 */
import { createHash } from 'node:crypto';
import type { SleepOverride } from '@dormouse/channel-directory';
import type { ChannelSettings } from '@dormouse/gateway-contract';

const DAY_MS = 86_400_000;
/** Longest time without a connection to the network. */
export const CONTACT_EVERY_MS = 3 * DAY_MS;
/** A wake that is due sooner after falling asleep than this part of the period is skipped. */
const TOO_SOON = 0.1;

export interface SleepTimes {
  /** Time without requests and traffic after which the session falls asleep; null: never. */
  readonly idleAfterMs: number | null;
  /** Interval between scheduled wakes, which receive what has arrived meanwhile. */
  readonly drainEveryMs: number;
}

/** Defaults of an installation. */
export interface SleepDefaults {
  /** For channels with a webhook for inbound events. */
  readonly listening: SleepTimes;
  readonly quiet: SleepTimes;
}

export const DEFAULT_SLEEP: SleepDefaults = {
  listening: { idleAfterMs: DAY_MS, drainEveryMs: 600_000 },
  quiet: { idleAfterMs: 900_000, drainEveryMs: DAY_MS },
};

/** Webhook events that only a connected session receives. */
const INBOUND = new Set([
  'messages',
  'message',
  'statuses',
  'ack',
  'chats',
  'chat',
  'contacts',
  'groups',
  'presences',
  'calls',
]);

/** The times of a channel: its override where it has one, else the default for its webhooks. */
export function sleepTimes(
  { webhooks }: Pick<ChannelSettings, 'webhooks'>,
  override: SleepOverride | null,
  defaults: SleepDefaults,
): SleepTimes {
  const listens = webhooks.some(({ events }) => events.some(({ type }) => INBOUND.has(type)));
  const usual = listens ? defaults.listening : defaults.quiet;
  return {
    idleAfterMs: override?.idleAfterMs === undefined ? usual.idleAfterMs : override.idleAfterMs,
    drainEveryMs: override?.drainEveryMs ?? usual.drainEveryMs,
  };
}

/**
 * The time of the scheduled wake for a channel that falls asleep now: its own place within the period.
 * @returns epoch milliseconds
 */
export function nextWakeMs(channelId: string, { drainEveryMs }: SleepTimes, nowMs: number): number {
  const periodMs = Math.min(drainEveryMs, CONTACT_EVERY_MS / (1 + TOO_SOON));
  const place = createHash('sha256').update(channelId).digest().readUInt32BE() / 2 ** 32;
  const earliestMs = nowMs + periodMs * TOO_SOON;
  const offsetMs = place * periodMs;
  return Math.ceil(Math.ceil((earliestMs - offsetMs) / periodMs) * periodMs + offsetMs);
}
