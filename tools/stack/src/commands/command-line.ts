import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isRegion, REGIONS, type Region } from '@dormouse/gateway-contract';
import { ROOT_FOLDER } from '../app-names.js';

export interface LaunchOptions {
  /** One line of JSON on standard output instead of text for people. */
  json: boolean;
  dataDir: string;
  portBase?: number;
  fresh: boolean;
  /** In each region. */
  workers: number;
  /** Undefined: those of the last start. */
  regions?: Region[];
}

function wholeNumber(name: string, text: string, low: number, high: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= low && value <= high) return value;
  throw new Error(`--${name} must be a whole number from ${low} to ${high}.`);
}

function regionList(text: string): Region[] {
  const codes = text.split(',').map((code) => code.trim());
  const known = codes.filter(isRegion);
  if (known.length === codes.length && new Set(codes).size === codes.length) return known;
  throw new Error(
    `--regions must be some of ${REGIONS.join(', ')}, each once, such as ${REGIONS.slice(0, 2).join(',')}.`,
  );
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
      regions: { type: 'string' },
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
    regions: values.regions === undefined ? undefined : regionList(values.regions),
  };
}
