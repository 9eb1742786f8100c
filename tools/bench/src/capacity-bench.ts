/** `npm run bench -- capacity [figures.json]`: prints what regions need; measures nothing itself. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { capacityInput, capacityOf, type Capacity } from './capacity.js';
import { aligned } from './table.js';

const FIGURES = join(import.meta.dirname, '../../../infra/capacity.json');
const SIZES = [10_000, 100_000, 1_000_000];

const count = (value: number): string => Math.round(value).toLocaleString('en');
const fine = (value: number): string => (value < 10 ? value.toFixed(1) : count(value));
const share = (value: number): string => `${(value * 100).toFixed(0)} %`;

const ROWS: [name: string, of: (capacity: Capacity) => string][] = [
  ['sends a second, at the peak', ({ sends }) => fine(sends)],
  ['messages received a second', ({ received }) => fine(received)],
  ['wakes a second', ({ wakes }) => fine(wakes)],
  ['worker pods', ({ pods }) => count(pods.worker)],
  ['edge pods', ({ pods }) => count(pods.edge)],
  ['dispatcher pods', ({ pods }) => count(pods.dispatcher)],
  ['PostgreSQL: cores', ({ postgresCores }) => count(postgresCores)],
  ['PostgreSQL: GB', ({ postgresGb }) => fine(postgresGb)],
  ['Redis: busy share of its core', ({ cores }) => share(cores.redis)],
  ['object storage: GB', ({ objectsGb }) => fine(objectsGb)],
  ['dollars a month: pods', ({ dollarsAMonth }) => count(dollarsAMonth.pods)],
  ['dollars a month: PostgreSQL', ({ dollarsAMonth }) => count(dollarsAMonth.postgres)],
  ['dollars a month: Redis', ({ dollarsAMonth }) => count(dollarsAMonth.redis)],
  ['dollars a month: object storage', ({ dollarsAMonth }) => count(dollarsAMonth.objects)],
  ['dollars a month: all', ({ dollarsAMonth }) => count(dollarsAMonth.all)],
  ['dollars a month: each thousand numbers', ({ dollarsAMonth }) => fine(dollarsAMonth['each thousand numbers'])],
  ['fullest', ({ full: [first] }) => (first ? `${first.part} ${share(first.share)}` : '')],
  ['next', ({ full: [, second] }) => (second ? `${second.part} ${share(second.share)}` : '')],
];

/** The table of `infra/capacity.md`, as lines. @param figures text of `infra/capacity.json` */
export function capacityTable(figures: string): string[] {
  const input = capacityInput.parse(JSON.parse(figures));
  const regions = SIZES.map((numbers) => capacityOf(numbers, input));
  return aligned([
    ['numbers of the region', ...SIZES.map(count)],
    ...ROWS.map(([name, of]) => [name, ...regions.map(of)]),
  ]);
}

export async function printCapacity(): Promise<void> {
  const { positionals } = parseArgs({ args: process.argv.slice(3), allowPositionals: true });
  for (const line of capacityTable(await readFile(positionals[0] ?? FIGURES, 'utf8'))) console.log(line);
}
