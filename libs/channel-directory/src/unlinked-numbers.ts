/** Numbers that were unlinked on their phones, for mail to their owners. */
import { defineStatement, type RegionalDatabase, type RowOf } from '@dormouse/database';

const UNLINKED = defineStatement({
  name: 'unlinked-numbers',
  text: `SELECT id, account_id, name, session_since FROM channels
         WHERE session_reason = 'unlinked' AND NOT linked AND deleted_at IS NULL
           AND session_since > now() - $1::int * interval '1 second' AND id > $2
         ORDER BY id LIMIT $3`,
  parameters: ['int4', 'text', 'int8'],
  row: { id: 'text', account_id: 'text', name: 'text', session_since: 'timestamptz' },
});

/**
 * Channels whose number was unlinked on its phone in the last `withinS` seconds (`session_since` has when) and is not linked again, by
 * id, in pages. @param after the id of the last one of the page before
 */
export async function unlinkedNumbers(
  pool: RegionalDatabase['pool'],
  withinS: number,
  after: string,
  limit: number,
): Promise<RowOf<typeof UNLINKED>[]> {
  return UNLINKED.all(pool, withinS, after, limit);
}
