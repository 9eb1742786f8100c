/** The channels of a shard that its owner has work for. */
import { defineStatement } from '@dormouse/database';
import { CHANNEL_COLUMNS, CHANNEL_ROW } from './channel-record.js';

/** Linked to a number, not deleted, not asleep. */
export const LINKED_AWAKE = defineStatement({
  name: 'linked-awake-channels',
  text: `SELECT ${CHANNEL_COLUMNS} FROM channels
         WHERE shard = $1 AND linked AND deleted_at IS NULL AND session_state <> 'hibernated' ORDER BY id`,
  parameters: ['int4'],
  row: CHANNEL_ROW,
});

/** Left half done by a worker that ended: pairings, and deleted channels that are still linked. */
export const TO_TIDY = defineStatement({
  name: 'channels-to-tidy',
  text: `SELECT id, linked FROM channels
         WHERE shard = $1 AND ((NOT linked AND session_state <> 'closed') OR (linked AND deleted_at IS NOT NULL))`,
  parameters: ['int4'],
  row: { id: 'text', linked: 'bool' },
});
