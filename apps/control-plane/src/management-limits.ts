import type { RequestLimitsOptions } from './accounts/request-limits.js';

/** Limits of one account. */
export interface ManagementLimits extends RequestLimitsOptions {
  channelsPerAccount: number;
  /** Channels created in half an hour; 0: no limit. An account may have a limit of its own. */
  channelsPerHalfHour: number;
  /** Channels that exist and were never linked; 0: no limit. An account may have a limit of its own. */
  neverLinkedChannels: number;
}

export const DEFAULT_LIMITS: ManagementLimits = {
  perAccount: 1_200,
  badKeysPerAddress: 30,
  channelsPerAccount: 1_000,
  channelsPerHalfHour: 20,
  neverLinkedChannels: 10,
};
