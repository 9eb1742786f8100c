/** How long the messages of channels are stored. */
import { defineStatement, type Queryable } from '@dormouse/database';

/** A channel, and for how many days it stores messages. */
export interface RetainedChannel {
  id: string;
  /** 0: no content after it was delivered. Null: as long as in the region. */
  retentionDays: number | null;
}

const RETAINED = defineStatement({
  name: 'retained-channels',
  text: `SELECT id, retention_days FROM channels WHERE deleted_at IS NULL AND id > $1 ORDER BY id LIMIT $2`,
  parameters: ['text', 'int8'],
  row: { id: 'text', retention_days: 'int4?' },
});

/** The next channels that exist, by id. */
export async function retainedChannels(on: Queryable, after: string, limit: number): Promise<RetainedChannel[]> {
  const rows = await RETAINED.all(on, after, limit);
  return rows.map(({ id, retention_days: retentionDays }) => ({ id, retentionDays }));
}
