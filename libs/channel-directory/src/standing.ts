import { defineStatement, transaction, type RegionalDatabase } from '@dormouse/database';
import { lockEventLog } from '@dormouse/event-outbox';
import type { EventPayloads } from '@dormouse/gateway-contract';
import type { Standing } from './channel-record.js';

/** Why a channel may not be billed, in the words of error 402. */
export const STANDING_REASONS: Record<Exclude<Standing, 'good'>, string> = {
  past_due: 'subscription past due',
  over_free_allowance: 'the free allowance of one connected number is exceeded',
};

/** The event that notifies a customer of a change of standing: the code that requests are answered with from now on. */
export function standingNotice(standing: Standing): EventPayloads['service.post'] {
  if (standing === 'good') return { errors: [{ code: 200, message: 'requests are answered again' }] };
  return { errors: [{ code: 402, message: 'payment required', details: STANDING_REASONS[standing] }] };
}

const SET_STANDING = defineStatement({
  name: 'set-standing',
  text: `
WITH before AS (
  SELECT id, standing FROM channels
  WHERE id = $1 AND deleted_at IS NULL AND standing_version < $3 FOR NO KEY UPDATE
)
UPDATE channels c SET standing = $2, standing_version = $3 FROM before b WHERE c.id = b.id
RETURNING b.standing <> $2 AS changed`,
  parameters: ['text', 'text', 'int8'],
  row: { changed: 'bool' },
});

/** Writes a standing that is newer than the stored one, and the notice when it differs, in one transaction. */
export async function storeStanding(
  database: Pick<RegionalDatabase, 'pool'>,
  { id, standing, version }: { id: string; standing: Standing; version: bigint },
): Promise<number | undefined> {
  return transaction(database, async (connection) => {
    const events = await lockEventLog(connection, id);
    if (!(await SET_STANDING.first(connection, id, standing, version))?.changed) return undefined;
    const [seq] = await events.append([{ type: 'service', method: 'post', payload: standingNotice(standing) }]);
    return seq;
  });
}
