/** What the management API sets of a channel's record, one column each. */
import { defineStatement } from '@dormouse/database';

export const SET_SLEEP = defineStatement({
  name: 'set-sleep',
  text: 'UPDATE channels SET sleep_override = $2 WHERE id = $1 AND deleted_at IS NULL',
  parameters: ['text', 'jsonb?'],
});

export const SET_RETENTION = defineStatement({
  name: 'set-retention',
  text: 'UPDATE channels SET retention_days = $2 WHERE id = $1 AND deleted_at IS NULL',
  parameters: ['text', 'int4?'],
});

export const RENAME = defineStatement({
  name: 'rename-channel',
  text: 'UPDATE channels SET name = $2 WHERE id = $1 AND deleted_at IS NULL',
  parameters: ['text', 'text'],
});
