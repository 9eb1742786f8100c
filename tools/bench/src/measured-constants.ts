/** What benchmarks measured for `infra/capacity.json`. */
import { readFile, writeFile } from 'node:fs/promises';
import type { CapacityInput } from './capacity.js';

type Measured = CapacityInput['measured'];

/** Processor time of each of `count` things, by the part of a region, of figures by process. */
export function processorMsEach(byProcess: ReadonlyMap<string, number>, count: number): Measured['sendMs'] {
  const of = (name: string): number => Number(((byProcess.get(name) ?? 0) / count).toFixed(3));
  return {
    worker: of('session-worker'),
    edge: of('edge-api'),
    dispatcher: of('webhook-dispatcher'),
    postgres: of('postgres'),
    redis: of('redis-server'),
  };
}

/** Puts measured constants in the place of those that the file has. */
export async function writeMeasured(file: string, measured: Partial<Measured>): Promise<void> {
  const input = JSON.parse(await readFile(file, 'utf8')) as { measured: object };
  const date = new Date().toISOString().slice(0, 10);
  input.measured = { ...input.measured, ...measured, date };
  await writeFile(file, `${JSON.stringify(input, null, 2)}\n`);
}
