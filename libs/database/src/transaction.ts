import type { Connection, Database } from './open-database.js';

/**
 * Runs `work` in one transaction on one connection: committed when it resolves, rolled back when it throws.
 * The connection is destroyed rather than reused if even the rollback fails.
 */
export async function transaction<T>(
  database: Pick<Database<unknown>, 'pool'>,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await database.pool.connect();
  let broken: Error | undefined;
  try {
    await connection.query('BEGIN');
    const result = await work(connection);
    await connection.query('COMMIT');
    return result;
  } catch (error) {
    await connection.query('ROLLBACK').catch((rollbackError: unknown) => {
      broken = rollbackError instanceof Error ? rollbackError : new Error(String(rollbackError));
    });
    throw error;
  } finally {
    connection.release(broken);
  }
}
