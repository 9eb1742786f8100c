/**
 * Channels that were deleted. Their record stays for a while, so that every part of the region notices the deletion; it goes last,
 * when nothing else is left of the channel and billing has seen its end.
 */
import { defineStatement, type Queryable } from '@dormouse/database';

/** How long after its deletion a channel may still get rows from requests and writes that were under way. */
const SETTLES_AFTER = '30 minutes';

/** Condition on a channel: its session has ended and its keys are gone, so that no worker writes for it any more. */
const HAS_ENDED = "deleted_at IS NOT NULL AND session_state = 'closed' AND NOT linked";

/** A deleted channel whose session has ended. */
export interface DeletedChannel {
  id: string;
  /** Nothing is under way for it any more: what is removed now does not come again. */
  settled: boolean;
}

const TO_PURGE = defineStatement({
  name: 'deleted-channels-to-purge',
  text: `SELECT id, deleted_at < now() - interval '${SETTLES_AFTER}' AS settled FROM channels
         WHERE ${HAS_ENDED} AND purged_at IS NULL AND id > $1 ORDER BY id LIMIT $2`,
  parameters: ['text', 'int8'],
  row: { id: 'text', settled: 'bool?' },
});

const OLDEST = defineStatement({
  name: 'oldest-unpurged-channel',
  text: `SELECT coalesce(extract(epoch FROM now() - min(deleted_at)), 0)::float8 AS age_s FROM channels
         WHERE deleted_at IS NOT NULL AND purged_at IS NULL`,
  parameters: [],
  row: { age_s: 'float8?' },
});

/** What a record of a deleted channel shows of people. */
const ERASED = `name = '', settings = '{}', settings_key_id = NULL, phone = NULL, lid = NULL, device_id = NULL, push_name = NULL`;

const MARK_PURGED = defineStatement({
  name: 'mark-channel-purged',
  text: `UPDATE channels SET ${ERASED}, snapshots = '[]', purged_at = now() WHERE id = $1 AND ${HAS_ENDED}`,
  parameters: ['text'],
});

const ERASE = defineStatement({
  name: 'erase-deleted-channels',
  text: `UPDATE channels SET ${ERASED} WHERE account_id = $1 AND deleted_at IS NOT NULL`,
  parameters: ['text'],
});

/**
 * Declares the statement that finds deleted channels that have something left, as its caller alone knows.
 * @param hasRest condition of the caller on a channel `c`
 */
export function defineDeletedChannelSearch(name: string, hasRest: string) {
  return defineStatement({
    name,
    text: `SELECT c.id FROM channels c WHERE c.deleted_at IS NOT NULL AND c.purged_at IS NULL AND ${hasRest}`,
    parameters: [],
    row: { id: 'text' },
  });
}

/** The next deleted channels, by id, of which something may be left, and whose sessions have ended. */
export async function channelsToPurge(on: Queryable, after: string, limit: number): Promise<DeletedChannel[]> {
  const rows = await TO_PURGE.all(on, after, limit);
  return rows.map(({ id, settled }) => ({ id, settled: settled === true }));
}

/** For how many seconds the channel that waits longest to be purged has been deleted; 0: none waits. */
export async function oldestUnpurgedS(on: Queryable): Promise<number> {
  return (await OLDEST.first(on))?.age_s ?? 0;
}

/** Stores that nothing else is left of a deleted channel, and erases what its record shows of people. */
export async function markPurged(on: Queryable, channelId: string): Promise<void> {
  await MARK_PURGED.count(on, channelId);
}

/**
 * Declares the statement that removes the records of purged channels, for the one app that may: the caller's rights have it, and
 * those of no other app. A number that counts stays until billing has seen its end.
 */
export function defineRecordRemovalStatement() {
  return defineStatement({
    name: 'remove-purged-channels',
    text: 'DELETE FROM channels WHERE deleted_at IS NOT NULL AND purged_at IS NOT NULL AND NOT billing_due',
    parameters: [],
  });
}

/**
 * Erases what the deleted channels of an account still show of people: names, settings, numbers. What is left is that they existed.
 * @param on a regional database
 * @returns how many channels of the account are deleted in the region
 */
export function eraseDeletedChannels(on: Queryable, accountId: string): Promise<number> {
  return ERASE.count(on, accountId);
}
