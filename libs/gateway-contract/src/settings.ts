import { z } from 'zod';
import { bounded, flag, text, textUpTo, writtenText, writtenTextUpTo } from './fields.js';
import { hasUnstorable } from './unstorable.js';

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
  method: z.enum(['post', 'put', 'patch', 'delete']).optional().describe('Absent = every method of the type.'),
});

const url = (kind: z.ZodString) =>
  kind
    .regex(/^https?:\/\//, 'must start with http:// or https://')
    .refine((value) => URL.canParse(value), 'must be a URL');
const headerName = writtenText.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be header names');

/** Most webhooks a channel can be given: each costs a call per event. */
export const MAX_WEBHOOKS = 10;
const MAX_URL_LENGTH = 2_048;
const MAX_HEADERS = 5;
/** As receivers take them: some refuse more than 8 kB, with what is sent beside. */
const MAX_HEADER_BYTES = 4_096;
/** More than there are types with methods. */
const MAX_EVENTS = 100;

/** A webhook as it may be stored: limits that came later do not take away what a channel already has. */
const webhookEntry = z.object({
  url: url(writtenText),
  mode: z
    .enum(['body', 'path', 'method'])
    .default('body')
    .describe('Where the kind of an event is named: in the body alone, in the path, too, or in the HTTP method, too.'),
  events: z.array(webhookEvent).default([{ type: 'messages', method: 'post' }]),
  headers: z.record(headerName, writtenText.regex(/^[^\r\n]*$/, 'must be one line')).optional(),
  send_undecrypted_ad: flag.optional(),
  webhook_max_age_seconds: bounded(15, 172_800).optional().describe('Older events are not delivered.'),
});

const bytesOf = (headers: Record<string, string>) => Buffer.byteLength(Object.entries(headers).flat().join(''));

/** A webhook as it may be given. */
const givenWebhook = webhookEntry.extend({
  url: url(textUpTo(MAX_URL_LENGTH)),
  events: z
    .array(webhookEvent)
    .max(MAX_EVENTS, atMost(MAX_EVENTS))
    .default([{ type: 'messages', method: 'post' }]),
  headers: z
    .record(
      headerName,
      // A tab is the one control character that a header can hold.
      writtenText.refine((value) => !hasUnstorable(value.replaceAll('\t', '')), 'must be text that a header can hold'),
    )
    .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, atMost(MAX_HEADERS))
    .refine((headers) => bytesOf(headers) <= MAX_HEADER_BYTES, `must have at most ${MAX_HEADER_BYTES} bytes in all`)
    .optional(),
});

function atMost(entries: number): string {
  return `must have at most ${entries} entries`;
}

const AUTO_DOWNLOAD_KINDS = ['image', 'audio', 'voice', 'video', 'document', 'sticker'] as const;
const mediaSettings = z.object({ auto_download: z.array(z.enum(AUTO_DOWNLOAD_KINDS)), init_avatars: flag });

const PROXY_PATTERN = /^socks5h?:\/\/(\S+):(\S+)@(((?:[0-9]{1,3}\.){3}[0-9]{1,3})|[a-zA-Z0-9.-]+):([0-9]{1,5})$|^$/;
const proxy = (kind: z.ZodString) => kind.regex(PROXY_PATTERN, 'must be socks5://user:password@host:port or empty');
const MAX_SETTING_LENGTH = 512;
const MAX_IGNORED_PRESENCES = 1_000;
const chatIds = z.array(text.regex(/^[\d-]{7,31}@[\w.]+$/, 'must be chat ids'));

/** The whole settings record of a channel, as it may be stored. */
export const settingsSchema = z.object({
  callback_backoff_delay_ms: bounded(3_000, 15_000).describe(
    'Pause before the first repetition of an event that a webhook did not accept.',
  ),
  max_callback_backoff_delay_ms: bounded(600_000, 3_600_000).describe('Longest pause between two attempts.'),
  callback_persist: flag.describe('Retry for 72 hours; false: three attempts, then the event is dropped.'),
  media: mediaSettings,
  webhooks: z.array(webhookEntry),
  proxy: proxy(writtenTextUpTo(MAX_SETTING_LENGTH)),
  mobile_proxy: writtenText.optional(),
  offline_mode: flag,
  full_history: flag.describe('Request the whole history of a phone that is linked.'),
  pdo_sync: flag,
  ignored_presences: chatIds,
  on_call_pager: writtenText.optional(),
  pass_through: flag.optional(),
  sent_status: flag.optional(),
  auto_read: flag.describe('Mark every incoming message as read.'),
  auto_presence: z.enum(['none', 'online', 'typing', 'recording']),
  legacy_status_text: flag.optional(),
  group_notices: flag.optional().describe('Group notices are `messages` events, too, not `groups` events alone.'),
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

/** Any part of a stored record. */
const storedFields = settingsSchema.extend({ media: mediaSettings.partial() }).partial();

/** Body of PATCH /settings: any part of the record; absent fields stay as they are. */
export const settingsPatchBody = settingsSchema
  .extend({
    media: mediaSettings.partial(),
    webhooks: z.array(givenWebhook).max(MAX_WEBHOOKS, atMost(MAX_WEBHOOKS)),
    proxy: proxy(textUpTo(MAX_SETTING_LENGTH)),
    mobile_proxy: textUpTo(MAX_SETTING_LENGTH).optional(),
    ignored_presences: chatIds.max(MAX_IGNORED_PRESENCES, atMost(MAX_IGNORED_PRESENCES)),
    on_call_pager: textUpTo(MAX_SETTING_LENGTH).optional(),
  })
  .partial();
export type SettingsPatch = z.output<typeof settingsPatchBody>;

/**
 * The record a channel has: what is stored over the defaults. A stored field that no longer fits its schema falls back
 * to its default by itself; the others, the webhooks above all, stay.
 */
export function settingsOf(stored: unknown): ChannelSettings {
  if (stored === null || typeof stored !== 'object') return DEFAULT_SETTINGS;
  const fields = Object.entries(stored) as [string, unknown][];
  const readable = fields.filter(([name, value]) => storedFields.safeParse({ [name]: value }).success);
  return applySettingsPatch(DEFAULT_SETTINGS, storedFields.parse(Object.fromEntries(readable)));
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
