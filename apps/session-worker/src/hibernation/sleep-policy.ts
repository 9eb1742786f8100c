/**
 * When a session sleeps and when it is woken by itself.
 *
 * What it guarantees: every linked channel connects at least every three days (the network unlinks devices that stay
 * away for thirty), and wakes are spread evenly over their period whatever made the channels fall asleep.
 */
import { createHash } from 'node:crypto';
import type { SleepOverride } from '@dormouse/channel-directory';
import type { ChannelSettings } from '@dormouse/gateway-contract';

const DAY_MS = 86_400_000;
/** Longest time without contact to the network. */
export const CONTACT_EVERY_MS = 3 * DAY_MS;
/** A wake due sooner than this part of the period after falling asleep is left out. */
const TOO_SOON = 0.1;

export interface SleepTimes {
  /** Time without requests and traffic after which the session sleeps; null: never. */
  readonly idleAfterMs: number | null;
  /** Time between two wakes that only fetch what came meanwhile. */
  readonly drainEveryMs: number;
}

/** Defaults of an installation. */
export interface SleepDefaults {
  /** For channels that have a webhook for what arrives. */
  readonly listening: SleepTimes;
  readonly quiet: SleepTimes;
}

export const DEFAULT_SLEEP: SleepDefaults = {
  listening: { idleAfterMs: DAY_MS, drainEveryMs: 600_000 },
  quiet: { idleAfterMs: 900_000, drainEveryMs: DAY_MS },
};

/** Webhook events that only a connected session hears. */
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

/** What holds for a channel: its override where it has one, else the default for its webhooks. */
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
 * When a channel that falls asleep now is woken by itself: at its own place within the period.
 * @returns epoch milliseconds
 */
export function nextWakeMs(channelId: string, { drainEveryMs }: SleepTimes, nowMs: number): number {
  const periodMs = Math.min(drainEveryMs, CONTACT_EVERY_MS / (1 + TOO_SOON));
  const place = createHash('sha256').update(channelId).digest().readUInt32BE() / 2 ** 32;
  const earliestMs = nowMs + periodMs * TOO_SOON;
  const offsetMs = place * periodMs;
  return Math.ceil(Math.ceil((earliestMs - offsetMs) / periodMs) * periodMs + offsetMs);
}
