import type { RequestLimitsOptions } from './accounts/request-limits.js';

/** Limits of one account. */
export interface ManagementLimits extends RequestLimitsOptions {
  channelsPerAccount: number;
}

export const DEFAULT_LIMITS: ManagementLimits = { perAccount: 1_200, badKeysPerAddress: 30, channelsPerAccount: 1_000 };
