import type { Change } from './draft.js';
import type { Settings } from './subscription.js';

/** What each part of the settings page gets. */
export interface SettingProps {
  settings: Settings;
  change: Change;
  /** Of the last try to save. */
  error: Error | null;
}
