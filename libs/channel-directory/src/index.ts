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
export { STANDING_REASONS } from './standing.js';
export { webhookIds } from './webhook-ids.js';
export { WebhookSecrets, type WebhookSecret } from './webhook-secrets.js';
