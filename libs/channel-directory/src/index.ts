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
  type SessionStateChange,
  type SettingsUpdate,
} from './channel-directory.js';
export type { ChannelRecord, ChannelSession, SleepOverride, Standing } from './channel-record.js';
export { healthOf, linkedUser } from './health.js';
export {
  checkRegion,
  recordRegion,
  RegionCheck,
  RegionMismatchError,
  type RegionCheckOptions,
  type RegionFacts,
} from './region-check.js';
export { openSettings } from './sealed-settings.js';
export { ChannelSeals, SealedValueError, type SettingsKeys } from './sealed-values.js';
export { needsReseal, resealChannel } from './settings-reseal.js';
export { STANDING_REASONS } from './standing.js';
export { webhookIds } from './webhook-ids.js';
export { openSecret, WebhookSecrets, type WebhookSecret } from './webhook-secrets.js';
