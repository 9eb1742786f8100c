import { connect } from 'node:net';
import pg from 'pg';

/** Empties Redis, as somebody does by mistake. */
export async function flushRedis(url: string): Promise<void> {
  const { hostname, port, password } = new URL(url);
  const socket = connect(Number(port), hostname);
  const answered = new Promise<string>((resolve, reject) => {
    socket.once('error', reject);
    socket.on('data', (chunk: Buffer) => resolve(chunk.toString()));
  });
  socket.write(`${password === '' ? '' : `AUTH ${password}\r\n`}FLUSHALL\r\n`);
  const answer = await answered;
  socket.destroy();
  if (!answer.startsWith('+OK')) throw new Error(`Redis did not flush: ${answer}`);
}

/** Makes PostgreSQL restart: a backend that dies of SIGKILL has all others ended and the server recover. */
export async function restartPostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const gone = new Promise((resolve) => client.once('end', resolve));
  process.kill(Number(rows[0]?.pid), 'SIGKILL');
  await gone;
}

/** Runs one statement on a connection of its own. */
export async function queryDatabase<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}
