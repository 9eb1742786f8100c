/**
 * A process of bare Baileys sockets, the yardstick of memory: `node bare-fleet.js <socket> <control> <folder> <count>`.
 * Opens that many numbers whose state is in the folder, links those that are not there yet, and answers every message of
 * its parent with its memory.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BufferJSON, initAuthCreds, type AuthenticationCreds } from '@whiskeysockets/baileys';
import { openBareSocket, silenceLibsignal } from './bare-baileys.js';
import { lineKeys } from './line-keys.js';

const AT_ONCE = 8;

const [socketUrl = '', control = '', folder = '', count = '0'] = process.argv.slice(2);

async function post<T>(path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(control + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status}`);
  return (await response.json()) as T;
}

async function open(index: number): Promise<void> {
  const file = join(folder, `${index}.creds.json`);
  const stored = await readFile(file, 'utf8').catch(() => undefined);
  const creds = stored ? (JSON.parse(stored, BufferJSON.reviver) as AuthenticationCreds) : initAuthCreds();
  const socket = await openBareSocket(socketUrl, creds, lineKeys(join(folder, `${index}.keys`)), async (qr) => {
    const { phone } = await post<{ phone: string }>('/phones', {});
    await post(`/phones/${phone}/scan`, { qr });
  });
  const save = () => writeFile(file, JSON.stringify(creds, BufferJSON.replacer));
  socket.ev.on('creds.update', () => void save());
  await save();
}

silenceLibsignal();
process.on('message', () => {
  globalThis.gc?.();
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.({ rssBytes: rss, heapBytes: heapUsed });
});
process.on('disconnect', () => process.exit());

let next = 0;
const lane = async (): Promise<void> => {
  for (let index = next++; index < Number(count); index = next++) await open(index);
};
await Promise.all(Array.from({ length: AT_ONCE }, lane));
process.send?.('open');
