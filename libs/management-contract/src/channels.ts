import { plainText, PROXY_REASONS, REGIONS } from '@dormouse/gateway-contract';
import { z } from 'zod';
import { wholeNumber } from './fields.js';

/** Display name; need not be unique. */
const channelName = plainText.trim().min(1, 'must not be empty').max(100, 'must have at most 100 characters');

/** Body of POST /api/v1/channels. */
export const createChannelBody = z.object({
  name: channelName,
  region: z
    .enum(REGIONS)
    .optional()
    .describe("Region of the channel; it cannot be changed. Absent: the service's first region."),
});
export type CreateChannelBody = z.output<typeof createChannelBody>;

/** Body of PATCH /api/v1/channels/{id}. */
export const renameChannelBody = z.object({ name: channelName });
export type RenameChannelBody = z.output<typeof renameChannelBody>;

/** Query of GET /api/v1/channels. */
export const listChannelsQuery = z.object({
  search: plainText
    .trim()
    .max(100, 'must have at most 100 characters')
    .optional()
    .describe(
      '* Part of the name or the id, in upper or lower case, or at least three digits of the linked number. Numbers of a region that is away are not found.',
    ),
  count: wholeNumber(1, 500, 100),
  offset: wholeNumber(0, 999_999_999, 0),
});
export type ListChannelsQuery = z.output<typeof listChannelsQuery>;

/** The part of a channel that is known without its region. */
export const channelEntry = z.object({
  id: z.string().describe('`WORD-XXXXX`; also `channel_id` in webhooks.'),
  name: z.string(),
  region: z.enum(REGIONS),
  created_at: z.int().describe('Epoch seconds.'),
});
export type ChannelEntry = z.output<typeof channelEntry>;

/** As `status` of the gateway's GET /health; `unknown`, without a code, while the region does not answer. */
export const channelStatusShape = z.object({
  code: z.int().optional(),
  text: z.string(),
  hibernated: z.literal(true).optional(),
  reason: z.enum(PROXY_REASONS).optional(),
});

/**
 * What a channel does, as one word. `not_linked`: no number. `linking`: a code waits to be scanned, or was scanned a moment ago.
 * `connecting`: it reconnects by itself. `connected`, `asleep` (healthy: the next request wakes it), `waking`. `stopped`: it stays
 * closed until a person has acted. `unknown`: the region does not answer.
 */
export const CHANNEL_STATES = [
  ...(['not_linked', 'linking', 'connecting', 'connected', 'asleep', 'waking', 'stopped', 'unknown'] as const),
] as const;
export type ChannelState = (typeof CHANNEL_STATES)[number];

/**
 * Why a person must act, one for each text that a page has:
 * - `link`: it was never linked. `link_again`: it was logged out here. `unlinked`: it was logged out on the phone.
 * - `proxy_unreachable`, `proxy_refused`: the proxy of its settings; it goes on trying, and never goes around the proxy.
 * - `restricted`: the network refuses the number for some time, or until its owner has appealed on the phone. `banned`: for good.
 * - `phone_outdated`: the app on the phone must be updated, or the number linked again.
 * - `unreachable`: the network was not reached for long; it is tried again every few minutes.
 * - `damaged`: what is stored of the session does not open: an operator must act, or the number be linked again.
 * - `pay`: the number is not paid for, so requests are answered 402.
 */
export const ATTENTIONS = [
  ...(['link', 'link_again', 'unlinked', 'proxy_unreachable', 'proxy_refused', 'restricted', 'banned'] as const),
  ...(['phone_outdated', 'unreachable', 'damaged', 'pay'] as const),
] as const;
export type Attention = (typeof ATTENTIONS)[number];

export const attention = z.object({
  what: z.enum(ATTENTIONS),
  since: z.int().optional().describe('Since when, in epoch seconds; absent for `pay`, which has no time.'),
  reason: z.string().optional().describe('Name of the reason for which the session closed, for support.'),
});

const MONTH_S = 2_592_000;

/**
 * Body of POST /api/v1/channels/{id}/sleep: how the channel's sleep differs from the default. An absent field has the
 * default.
 */
export const channelSleep = z.object({
  idle_after_s: z
    .int()
    .min(0)
    .max(MONTH_S)
    .optional()
    .describe('Seconds without requests and traffic after which the number sleeps; 0: never.'),
  drain_every_s: z
    .int()
    .min(1)
    .max(MONTH_S)
    .optional()
    .describe(
      'Seconds between two wakes that only receive what arrived meanwhile; more than three days count as three days.',
    ),
});
export type ChannelSleep = z.output<typeof channelSleep>;

/** Body of PUT /api/v1/channels/{id}/retention. */
export const channelRetention = z.object({
  days: z
    .int()
    .min(0, 'must be 0 or more days')
    .max(3_650, 'must be at most 3650 days')
    .optional()
    .describe(
      'Days for which messages, receipts, chats and contacts are stored. 0: their content is erased an hour after it was stored, once every webhook has accepted its event. Absent: the default of the region (90 days).',
    ),
});
export type ChannelRetention = z.output<typeof channelRetention>;

/** A channel with its present state in the region. */
export const channelRecord = channelEntry.extend({
  status: channelStatusShape,
  state: z.enum(CHANNEL_STATES),
  since: z
    .int()
    .optional()
    .describe('Since when it is in this state, in epoch seconds; absent while the region does not answer.'),
  attention: attention
    .optional()
    .describe(
      'Absent: nobody must act, or the region does not answer. What keeps the number from the network comes before `pay`.',
    ),
  standing: z
    .enum(['good', 'past_due', 'over_free_allowance'])
    .optional()
    .describe('`good`, or why the channel may not be billed.'),
  phone: z.string().optional().describe('Digits of the linked number.'),
  phone_name: z.string().optional().describe('The name that the number shows to others.'),
  wake_at: z.int().optional().describe('When a sleeping channel is woken by itself, in epoch seconds.'),
  sleep: channelSleep.optional().describe('Absent: the default applies.'),
  retention_days: z
    .int()
    .optional()
    .describe('For how many days its messages are stored. Absent: the default of the region.'),
});
export type ManagedChannel = z.output<typeof channelRecord>;

/** Answer of POST /api/v1/channels. */
export const channelWithToken = z.object({
  channel: channelRecord,
  token: z.string().describe('Token of the channel for the gateway. Returned only here.'),
});
export type ChannelWithToken = z.output<typeof channelWithToken>;

/** Answer of POST /api/v1/channels/{id}/token. */
export const tokenRotated = channelWithToken.extend({
  takes_effect: z
    .enum(['now', 'when_the_region_answers'])
    .describe(
      'From when the new token is valid and the old one is not. Of several that wait for the region, the newest is valid.',
    ),
});
export type TokenRotated = z.output<typeof tokenRotated>;

/** Answer of GET /api/v1/channels, newest first. */
export const channelList = z.object({
  channels: z.array(channelRecord),
  count: z.int().describe('The requested page size.'),
  total: z.int().describe('All channels of the account, or all that the search finds.'),
  offset: z.int(),
});
export type ChannelList = z.output<typeof channelList>;

/** Answer of DELETE /api/v1/channels/{id}. */
export const channelDeleted = z.object({
  success: z.literal(true),
  unlinked: z
    .boolean()
    .describe('True when the number is unlinked already; else a worker of the region unlinks it later.'),
});
export type ChannelDeleted = z.output<typeof channelDeleted>;

/** Answer of POST /api/v1/channels/{id}/logout. */
export const channelLoggedOut = z.object({ success: z.literal(true) });
export type ChannelLoggedOut = z.output<typeof channelLoggedOut>;
