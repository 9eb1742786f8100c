import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import type { Stack } from '@dormouse/stack';
import pg from 'pg';

/** Bytes that each store holds of these channels together, by place: a table, Redis, object storage. */
export async function storedBytes(
  stack: Stack,
  dataDir: string,
  channelIds: readonly string[],
): Promise<Map<string, number>> {
  const bytes = await rowBytes(stack.databases.sg, channelIds);
  bytes.set('Redis: keys', await redisBytes(stack.redis.sg, channelIds));
  bytes.set('object storage: objects', await objectBytes(join(dataDir, 'objects'), channelIds));
  return bytes;
}

async function rowBytes(url: string, channelIds: readonly string[]): Promise<Map<string, number>> {
  const connection = new pg.Client({ connectionString: url });
  await connection.connect();
  try {
    const { rows: tables } = await connection.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND column_name = 'channel_id' ORDER BY 1`,
    );
    const bytes = new Map<string, number>();
    for (const [table, column] of [['channels', 'id'], ...tables.map(({ name }) => [name, 'channel_id'])]) {
      const { rows } = await connection.query<{ bytes: string | null }>(
        `SELECT sum(pg_column_size(t.*)) AS bytes FROM "${table}" t WHERE "${column}" = ANY ($1)`,
        [channelIds],
      );
      if (rows[0]?.bytes) bytes.set(`PostgreSQL: ${table}`, Number(rows[0].bytes));
    }
    return bytes;
  } finally {
    await connection.end();
  }
}

async function objectBytes(folder: string, channelIds: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || basename(entry.parentPath) !== 'records') continue;
    // Each object has a record that holds its key and its size; the file of its bytes has a name of its own.
    const { key, size } = JSON.parse(await readFile(join(entry.parentPath, entry.name), 'utf8')) as {
      key: string;
      size: number;
    };
    if (channelIds.some((id) => key.includes(id))) bytes += size;
  }
  return bytes;
}

/** What Redis holds under keys that name one of the channels. */
async function redisBytes(url: string, channelIds: readonly string[]): Promise<number> {
  const script = `local bytes = 0
    for _, key in ipairs(redis.call('KEYS', '*')) do
      for _, id in ipairs(ARGV) do
        if string.find(key, id, 1, true) then bytes = bytes + redis.call('MEMORY', 'USAGE', key) end
      end
    end
    return bytes`;
  return Number(await queryRedis(url, ['EVAL', script, '0', ...channelIds]));
}

/** One question to Redis; the whole answer without its type and length. */
export function queryRedis(url: string, words: readonly string[]): Promise<string> {
  const { hostname, port, pathname, password } = new URL(url);
  const command = (parts: readonly string[]): string =>
    `*${parts.length}\r\n${parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('error', reject);
    socket.on('data', (data) => (answer += data.toString()));
    socket.on('close', () => {
      const [, reply = ''] = answer.split(/^(?:\+OK\r\n)+/); // to AUTH and SELECT; QUIT's own follows at the end
      const body = reply.replace(/\+OK\r\n$/, '');
      if (body.startsWith('-')) reject(new Error(body.trim()));
      else resolve(body.replace(/^\$\d+\r\n|^:/, '').trim());
    });
    if (password !== '') socket.write(command(['AUTH', decodeURIComponent(password)]));
    socket.end(command(['SELECT', pathname.slice(1) || '0']) + command(words) + command(['QUIT']));
  });
}
