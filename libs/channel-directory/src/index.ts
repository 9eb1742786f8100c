export { channelsDueForBilling, clearBillingDue, type ChannelDueForBilling } from './channel-billing.js';
export {
  ChannelChanges,
  type ChangesFollower,
  type ChannelChangesLog,
  type ChannelChangesOptions,
} from './channel-changes.js';
export {
  ChannelDirectory,
  type ChannelDirectoryOptions,
  type NewChannel,
  type SettingsUpdate,
} from './channel-directory.js';
export type { ChannelRecord, ChannelSession, SleepOverride, Standing } from './channel-record.js';
export {
  defineFormerKeySearch,
  dueToWake,
  fallAsleep,
  forgetSleep,
  lockSnapshots,
  readSnapshots,
  setSnapshots,
  setWake,
} from './channel-sleep.js';
export {
  channelsToPurge,
  defineDeletedChannelSearch,
  defineRecordRemovalStatement,
  eraseDeletedChannels,
  markPurged,
  oldestUnpurgedS,
  type DeletedChannel,
} from './deleted-channels.js';
export {
  channelsInState,
  channelsStuckIn,
  closedChannels,
  countInState,
  damagedSnapshots,
  fleetChannel,
  overdueWakes,
  sessionsByShard,
  sessionsByState,
  type FleetChannelRow,
} from './fleet-channels.js';
export { channelOverviews, channelsOfPhone, type ChannelOverview } from './channel-overviews.js';
export { healthOf, linkedUser } from './health.js';
export { countNeverLinked } from './never-linked.js';
export {
  checkRegion,
  recordRegion,
  RegionCheck,
  RegionMismatchError,
  type RegionCheckOptions,
  type RegionFacts,
} from './region-check.js';
export { RegionOutbox, type RegionOutboxLog, type RegionOutboxOptions } from './region-outbox.js';
export { ChannelSeals, SealedValueError, type SettingsKeys } from './sealed-values.js';
export { CONNECTED_TO_CUSTOMERS, type SessionStateChange } from './session-states.js';
export { retainedChannels, type RetainedChannel } from './retained-channels.js';
export { resealChannel } from './settings-reseal.js';
export { STANDING_REASONS } from './standing.js';
export { unlinkedNumbers } from './unlinked-numbers.js';
export { requireUsableSettings } from './usable-settings.js';
export { webhookIds } from './webhook-ids.js';
export { deleteSecrets, WebhookSecrets, type WebhookSecret } from './webhook-secrets.js';
export { readWebhookSettings } from './webhook-settings.js';
