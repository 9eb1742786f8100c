import type { GlobalDatabase } from '@dormouse/database';

/** Does something in a transaction that stays open, with its locks, until `release` is called. */
export async function holdLocks(
  { pool }: Pick<GlobalDatabase, 'pool'>,
  text: string,
  values: unknown[],
): Promise<{ release: () => Promise<void> }> {
  const connection = await pool.connect();
  await connection.query('BEGIN');
  await connection.query(text, values);
  return {
    release: async () => {
      await connection.query('COMMIT');
      connection.release();
    },
  };
}

/** Resolves when so many queries of the spec's database wait for locks. */
export async function lockWaiters({ pool }: Pick<GlobalDatabase, 'pool'>, count: number): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ waiting: number }>(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity
       WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    );
    if ((rows[0]?.waiting ?? 0) >= count) return;
  }
}
