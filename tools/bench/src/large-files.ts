/** Files of 100 MB through the stack, and what they cost its processes in memory. */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { residentBytes, watchPeak } from '@dormouse/stack/process-memory';
import type { Pool } from 'undici';
import { printTable } from './table.js';

export const MB = 1_000_000;
const MIB = 1024 * 1024;
const LARGE_BYTES = 100 * MB;
const SAMPLE_EVERY_MS = 5;
const WARM_TURNS = 5;

/** Who sends and receives files, and where. */
export interface FileClient {
  pool: Pool;
  channel: { token: string };
}

/** Many bytes as a raw body or a file part, made while they are sent. */
export function* largeBody(bytes: number, before = '', after = ''): Generator<Buffer> {
  yield Buffer.from(before);
  const piece = randomBytes(MB);
  for (let sent = 0; sent < bytes; sent += MB) yield piece;
  yield Buffer.from(after);
}

/** Sends a body without a length. @returns the answer's text @throws on anything but 200 */
export async function post(
  { pool, channel }: FileClient,
  path: string,
  contentType: string,
  body: Generator<Buffer>,
): Promise<string> {
  const response = await pool.request({
    method: 'POST',
    path,
    headers: { authorization: `Bearer ${channel.token}`, 'content-type': contentType },
    body: Readable.from(body),
  });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`POST ${path}: ${response.statusCode} ${text}`);
  return text;
}

/** Uploads a file. @returns its id */
export async function upload(client: FileClient, bytes: number): Promise<string> {
  const text = await post(client, '/media', 'application/octet-stream', largeBody(bytes));
  return (JSON.parse(text) as { id: string }).id;
}

/** Reads a file to its end. @throws on anything but 200 */
export async function download({ pool, channel }: FileClient, id: string): Promise<void> {
  const headers = { authorization: `Bearer ${channel.token}` };
  const response = await pool.request({ method: 'GET', path: `/media/${id}`, headers });
  if (response.statusCode !== 200) throw new Error(`GET /media: ${response.statusCode}`);
  await response.body.dump({ limit: LARGE_BYTES * 2 });
}

/**
 * Prints resident memory of processes before 100 MB pass each way, and its highest value meanwhile.
 * @param ways by name; each lets a number of bytes pass
 */
export async function printMemoryOf(
  pids: Record<string, number>,
  ways: Record<string, (bytes: number) => Promise<unknown>>,
): Promise<void> {
  // What a process needs to do this at all (code, pools) is no cost of a file.
  console.error('Warming up with small files ...');
  for (let turn = 0; turn < WARM_TURNS; turn += 1) for (const way of Object.values(ways)) await way(2 * MB);
  const rows: string[][] = [];
  for (const [name, way] of Object.entries(ways)) {
    console.error(`100 MB: ${name} ...`);
    const found = await memoryOf(pids, async () => void (await way(LARGE_BYTES)));
    for (const [process, { before, peak }] of Object.entries(found)) {
      const mib = (bytes: number) => (bytes / MIB).toFixed(1);
      rows.push([name, process, mib(before), mib(peak), mib(peak - before)]);
    }
  }
  console.log('\nResident memory while a file of 100 MB passes, MiB');
  printTable([['way', 'process', 'before', 'peak', 'extra'], ...rows]);
}

/** Resident memory of processes before some work, and its highest value during it. */
async function memoryOf(
  pids: Record<string, number>,
  work: () => Promise<void>,
): Promise<Record<string, { before: number; peak: number }>> {
  let working: Promise<void> | undefined;
  const watched = Object.entries(pids).map(async ([name, pid]) => {
    const figures = await watchPeak(
      () => residentBytes(pid),
      SAMPLE_EVERY_MS,
      () => (working ??= work()),
    );
    return [name, figures] as const;
  });
  return Object.fromEntries(await Promise.all(watched));
}
