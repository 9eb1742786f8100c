import { plainText, REGIONS } from '@dormouse/gateway-contract';
import { z } from 'zod';
import { wholeNumber } from './fields.js';

/** Body of POST /api/v1/channels. */
export const createChannelBody = z.object({
  /** Display name; need not be unique. */
  name: plainText.trim().min(1, 'must not be empty').max(100, 'must have at most 100 characters'),
  /** Region of the channel; it cannot be changed. Absent: the service's first region. */
  region: z.enum(REGIONS).optional(),
});
export type CreateChannelBody = z.output<typeof createChannelBody>;

/** Query of GET /api/v1/channels. */
export const listChannelsQuery = z.object({
  count: wholeNumber(1, 500, 100),
  offset: wholeNumber(0, 999_999_999, 0),
});
export type ListChannelsQuery = z.output<typeof listChannelsQuery>;

/** The part of a channel that is known without its region. */
export const channelEntry = z.object({
  /** `WORD-XXXXX`; also `channel_id` in webhooks. */
  id: z.string(),
  name: z.string(),
  region: z.enum(REGIONS),
  /** Epoch seconds. */
  created_at: z.int(),
});
export type ChannelEntry = z.output<typeof channelEntry>;

/** As `status` of the gateway's GET /health; `unknown`, without a code, while the region does not answer. */
export const channelStatusShape = z.object({
  code: z.int().optional(),
  text: z.string(),
  hibernated: z.literal(true).optional(),
});

const MONTH_S = 2_592_000;

/**
 * Body of POST /api/v1/channels/{id}/sleep: how the channel's sleep differs from the default. An absent field has the
 * default.
 */
export const channelSleep = z.object({
  /** Seconds without requests and traffic after which the number sleeps; 0: never. */
  idle_after_s: z.int().min(0).max(MONTH_S).optional(),
  /** Seconds between two wakes that only receive what arrived meanwhile; more than three days count as three days. */
  drain_every_s: z.int().min(1).max(MONTH_S).optional(),
});
export type ChannelSleep = z.output<typeof channelSleep>;

/** A channel with its present state in the region. */
export const channelRecord = channelEntry.extend({
  status: channelStatusShape,
  /** `good`, or why the channel may not be billed. */
  standing: z.enum(['good', 'past_due', 'over_free_allowance']).optional(),
  /** Digits of the linked number. */
  phone: z.string().optional(),
  /** Absent: the default applies. */
  sleep: channelSleep.optional(),
});
export type ManagedChannel = z.output<typeof channelRecord>;

/** Answer of POST /api/v1/channels and of POST /api/v1/channels/{id}/token. */
export const channelWithToken = z.object({
  channel: channelRecord,
  /** Token of the channel for the gateway. Returned only here. */
  token: z.string(),
});
export type ChannelWithToken = z.output<typeof channelWithToken>;

/** Answer of GET /api/v1/channels, newest first. */
export const channelList = z.object({
  channels: z.array(channelEntry),
  /** The requested page size. */
  count: z.int(),
  /** All channels of the account. */
  total: z.int(),
  offset: z.int(),
});
export type ChannelList = z.output<typeof channelList>;

/** Answer of DELETE /api/v1/channels/{id}. */
export const channelDeleted = z.object({
  success: z.literal(true),
  /** True when the number is unlinked already; else a worker of the region unlinks it later. */
  unlinked: z.boolean(),
});
export type ChannelDeleted = z.output<typeof channelDeleted>;
