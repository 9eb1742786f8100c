import { z } from 'zod';
import { bounded, flag, text, textUpTo } from './fields.js';

/** Webhook event types with the methods each can have. */
export const WEBHOOK_EVENT_METHODS = {
  messages: ['post', 'put', 'patch', 'delete'],
  statuses: ['post', 'put'],
  chats: ['post', 'put', 'patch', 'delete'],
  contacts: ['post', 'patch'],
  groups: ['post', 'put', 'patch'],
  presences: ['post'],
  calls: ['post'],
  channel: ['post', 'patch'],
  users: ['post', 'delete'],
  labels: ['post', 'delete'],
  service: ['post'],
} as const;
export type WebhookEventType = keyof typeof WEBHOOK_EVENT_METHODS;
export type WebhookEventMethod = 'post' | 'put' | 'patch' | 'delete';

/** Names the compatible gateway once used; still accepted in a subscription. */
export const DEPRECATED_EVENT_TYPES = {
  message: 'messages',
  ack: 'statuses',
  chat: 'chats',
  status: 'channel',
} as const satisfies Record<string, WebhookEventType>;

const EVENT_TYPE_NAMES = [
  'messages',
  'statuses',
  'chats',
  'contacts',
  'groups',
  'presences',
  'calls',
  'channel',
  'users',
  'labels',
  'service',
  'message',
  'ack',
  'chat',
  'status',
] as const;

const webhookEvent = z.object({
  type: z.enum(EVENT_TYPE_NAMES),
  /** Absent = every method of the type. */
  method: z.enum(['post', 'put', 'patch', 'delete']).optional(),
});

const webhookEntry = z.object({
  url: text
    .regex(/^https?:\/\//, 'must start with http:// or https://')
    .refine((url) => URL.canParse(url), 'must be a URL'),
  mode: z.enum(['body', 'path', 'method']).default('body'),
  events: z.array(webhookEvent).default([{ type: 'messages', method: 'post' }]),
  headers: z
    .record(
      z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be header names'),
      text.regex(/^[^\r\n]*$/, 'must be one line'),
    )
    .refine((headers) => Object.keys(headers).length <= 5, 'must have at most 5 entries')
    .optional(),
  send_undecrypted_ad: flag.optional(),
  webhook_max_age_seconds: bounded(15, 172_800).optional(),
});

const AUTO_DOWNLOAD_KINDS = ['image', 'audio', 'voice', 'video', 'document', 'sticker'] as const;
const mediaSettings = z.object({ auto_download: z.array(z.enum(AUTO_DOWNLOAD_KINDS)), init_avatars: flag });

const PROXY_PATTERN = /^socks5h?:\/\/(\S+):(\S+)@(((?:[0-9]{1,3}\.){3}[0-9]{1,3})|[a-zA-Z0-9.-]+):([0-9]{1,5})$|^$/;

/** The whole settings record of a channel. */
export const settingsSchema = z.object({
  callback_backoff_delay_ms: bounded(3_000, 15_000),
  max_callback_backoff_delay_ms: bounded(600_000, 3_600_000),
  callback_persist: flag,
  media: mediaSettings,
  webhooks: z.array(webhookEntry),
  proxy: textUpTo(512).regex(PROXY_PATTERN, 'must be socks5://user:password@host:port or empty'),
  mobile_proxy: text.optional(),
  offline_mode: flag,
  full_history: flag,
  pdo_sync: flag,
  ignored_presences: z.array(text.regex(/^[\d-]{7,31}@[\w.]+$/, 'must be chat ids')),
  on_call_pager: text.optional(),
  pass_through: flag.optional(),
  sent_status: flag.optional(),
  auto_read: flag,
  auto_presence: z.enum(['none', 'online', 'typing', 'recording']),
  legacy_status_text: flag.optional(),
  /** Group notices are `messages` events, too, not `groups` events alone. */
  group_notices: flag.optional(),
});
export type ChannelSettings = z.output<typeof settingsSchema>;
export type WebhookEntry = ChannelSettings['webhooks'][number];

export const DEFAULT_SETTINGS: ChannelSettings = {
  callback_backoff_delay_ms: 3_000,
  max_callback_backoff_delay_ms: 900_000,
  callback_persist: true,
  media: { auto_download: [], init_avatars: false },
  webhooks: [],
  proxy: '',
  offline_mode: false,
  full_history: false,
  pdo_sync: true,
  ignored_presences: [],
  auto_read: false,
  auto_presence: 'none',
};

/** Body of PATCH /settings: any part of the record; absent fields stay as they are. */
export const settingsPatchBody = settingsSchema.extend({ media: mediaSettings.partial() }).partial();
export type SettingsPatch = z.output<typeof settingsPatchBody>;

/**
 * The record a channel has: what is stored over the defaults. A stored field that no longer fits its schema falls back
 * to its default by itself; the others, the webhooks above all, stay.
 */
export function settingsOf(stored: unknown): ChannelSettings {
  if (stored === null || typeof stored !== 'object') return DEFAULT_SETTINGS;
  const fields = Object.entries(stored) as [string, unknown][];
  const readable = fields.filter(([name, value]) => settingsPatchBody.safeParse({ [name]: value }).success);
  return applySettingsPatch(DEFAULT_SETTINGS, settingsPatchBody.parse(Object.fromEntries(readable)));
}

/**
 * The record after a partial update: webhooks are replaced as a whole, media is merged key by key. The proxy as it is
 * shown, its password masked, is what a client sends back that changes something else: it leaves the proxy as it was.
 */
export function applySettingsPatch(before: ChannelSettings, patch: SettingsPatch): ChannelSettings {
  const after = { ...before, ...patch, media: { ...before.media, ...patch.media } };
  return patch.proxy === shownProxy(before.proxy) ? { ...after, proxy: before.proxy } : after;
}

/** Answer of PATCH /settings. */
export interface SettingsUpdateResult {
  before_update: ChannelSettings;
  after_update: ChannelSettings;
  /** Names of the top-level fields whose value differs. */
  changes: string[];
}

/** Names of the top-level fields in which two records differ, in the record's order. */
export function changedSettings(before: ChannelSettings, after: ChannelSettings): string[] {
  const names = Object.keys(settingsSchema.shape) as (keyof ChannelSettings)[];
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

/** The record as customers see it: the password of the proxy is masked. */
export function shownSettings(settings: ChannelSettings): ChannelSettings {
  return { ...settings, proxy: shownProxy(settings.proxy) };
}

function shownProxy(proxy: string): string {
  return proxy.replace(/^(socks5h?:\/\/[^:]+:)\S+@/, '$1***@');
}
