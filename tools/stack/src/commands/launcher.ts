/**
 * The life of `npm start` and `npm run sandbox`: starts the stack, prints its addresses, runs until a signal comes.
 * A signal during the start ends the launcher at once; its watchdog then stops what was already started.
 */
import { constants } from 'node:os';
import type { LaunchOptions } from './command-line.js';
import { startStack } from '../launch/stack.js';
import type { Region } from '@dormouse/gateway-contract';
import type { Stack, StackOptions } from '../launch/stack-options.js';

/** Which regions it has is known by then alone: take them from `regions`. */
export type LaunchedStack = Stack<Region>;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** What a shell reports for a process that a signal ended is this and the signal's number. */
const EXIT_BY_SIGNAL = 128;

/**
 * @param announce called once everything is ready
 * @param env more switches for single apps
 */
export async function launch(
  options: LaunchOptions,
  network: 'real' | 'simulator',
  announce: (stack: LaunchedStack) => Promise<void>,
  env: StackOptions<Region>['env'] = {},
): Promise<void> {
  let stack: LaunchedStack | undefined;
  let isStopping = false;
  const stop = async (signal: (typeof SIGNALS)[number]): Promise<void> => {
    // A second signal, or one during the start, does not wait; the watchdog sees to the rest.
    if (isStopping || !stack) process.exit(EXIT_BY_SIGNAL + constants.signals[signal]);
    isStopping = true;
    // The reader of the pipe may be gone.
    process.stderr.on('error', () => undefined);
    process.stderr.write('Stopping ...\n');
    await stack.stop();
    process.exit(0);
  };
  // Before anything is started, so that nothing can be left behind.
  for (const name of SIGNALS) process.on(name, () => void stop(name).catch(() => process.exit(1)));
  try {
    stack = await startStack<Region>({
      dataDir: options.dataDir,
      portBase: options.portBase,
      fresh: options.fresh,
      workers: options.workers,
      regions: options.regions,
      network,
      billing: network === 'simulator',
      env,
      logs: 'pretty',
    });
    await announce(stack);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    await stack?.stop();
    process.exit(1);
  }
}

/** Two columns, aligned. */
export function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join('\n');
}

/** The addresses that both commands show. */
export function addressRows(stack: LaunchedStack): [string, string][] {
  return [
    ...eachRegion(stack, 'Gateway API', (code) => stack.urls.edge[code]),
    ['Dashboard', stack.urls.controlPlane],
    ['Management API', `${stack.urls.controlPlane}/api/v1`],
    ['Documentation', `${stack.urls.controlPlane}/docs`],
    ...(stack.urls.simulator === undefined ? [] : simulatorRows(stack.urls.simulator)),
    ...optionalRow('Billing', stack.urls.billing),
    ...optionalRow('Simulated Stripe', stack.urls.stripe),
    ...optionalRow('Mailbox, in a browser', stack.urls.mail),
    ['PostgreSQL', stack.databases.global],
    ...eachRegion(stack, 'PostgreSQL', (code) => stack.databases[code]),
    ...eachRegion(stack, 'Redis', (code) => stack.redis[code]),
    ...eachRegion(stack, 'Objects (S3)', (code) => `${stack.objects[code].endpoint}/${stack.objects[code].bucket}`),
    ['Account key', stack.accountKey],
    ['Operator key', stack.operatorKey],
  ];
}

/** A row for each region, which is named where there are several. */
function eachRegion({ regions }: LaunchedStack, name: string, of: (code: Region) => string): [string, string][] {
  return regions.map((code) => [regions.length === 1 ? name : `${name}, ${code}`, of(code)]);
}

function optionalRow(name: string, url: string | undefined): [string, string][] {
  return url === undefined ? [] : [[name, url]];
}

function simulatorRows(url: string): [string, string][] {
  return [
    ['Simulated network', url],
    ['Phones, in a browser', `${url}/`],
  ];
}

/** Reports a command line that cannot be read and ends. */
export function readOrExit(read: () => LaunchOptions): LaunchOptions {
  try {
    return read();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}
