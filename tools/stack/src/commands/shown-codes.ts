/**
 * The codes of a region's channels that somebody links now, in the dashboard or with the gateway, for the page of the phones of a
 * simulated network. Guarantee: it begins no pairing: only channels that offer a code already are listed. What does not
 * answer within its time is left out until the next request.
 */
import { randomUUID } from 'node:crypto';
import { CommandClient } from '@dormouse/queues';
import pg from 'pg';

export interface ShownCode {
  name: string;
  code: string;
}

/** At most as many as a person looks through. */
const MOST = 20;
const ANSWER_WITHIN_MS = 5_000;
const QUERY_TIMEOUT_MS = 2_000;

export interface RegionOfCodes {
  databaseUrl: string;
  redisUrl: string;
}

export interface ShownCodes {
  /** Those that are valid now. */
  list(): Promise<ShownCode[]>;
  close(): Promise<void>;
}

export function shownCodesOf({ databaseUrl, redisUrl }: RegionOfCodes): ShownCodes {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, query_timeout: QUERY_TIMEOUT_MS });
  // While the database is away nothing is listed.
  pool.on('error', () => undefined);
  const commands = new CommandClient({ redisUrl });
  const codeOf = async ({ id, name, shard }: { id: string; name: string; shard: number }): Promise<ShownCode[]> => {
    const times = { startWithinMs: ANSWER_WITHIN_MS, answerWithinMs: ANSWER_WITHIN_MS };
    const call = commands.call({ id, shard }, 'channel.loginCode', {}, { requestId: randomUUID(), ...times });
    return call.then(
      ({ code }) => [{ name: `${name} (${id})`, code }],
      () => [],
    );
  };
  const list = async (): Promise<ShownCode[]> => {
    const { rows } = await pool.query<{ id: string; name: string; shard: number }>(
      `SELECT id, name, shard FROM channels WHERE session_state = 'qr' AND deleted_at IS NULL
       ORDER BY session_since DESC, id LIMIT $1`,
      [MOST],
    );
    return (await Promise.all(rows.map(codeOf))).flat();
  };
  return { list, close: async () => void (await Promise.all([pool.end(), commands.close()])) };
}
