import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT_FOLDER } from '../app-names.js';

export interface LaunchOptions {
  /** One line of JSON on standard output instead of text for people. */
  json: boolean;
  dataDir: string;
  portBase?: number;
  fresh: boolean;
  workers: number;
}

function wholeNumber(name: string, text: string, low: number, high: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= low && value <= high) return value;
  throw new Error(`--${name} must be a whole number from ${low} to ${high}.`);
}

/**
 * The options of `npm start` and `npm run sandbox`.
 * @param name folder below `.dormouse/` if no --data is given
 * @throws a sentence about the first option that is wrong
 */
export function readCommandLine(args: string[], name: 'start' | 'sandbox'): LaunchOptions {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      data: { type: 'string' },
      fresh: { type: 'boolean', default: false },
      workers: { type: 'string', default: '1' },
      'port-base': { type: 'string' },
    },
  });
  const portBase = values['port-base'];
  return {
    json: values.json,
    dataDir: resolve(values.data ?? `${ROOT_FOLDER}.dormouse/${name}`),
    portBase: portBase === undefined ? undefined : wholeNumber('port-base', portBase, 1024, 65_000),
    fresh: values.fresh,
    workers: wholeNumber('workers', values.workers, 1, 64),
  };
}
