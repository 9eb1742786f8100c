/**
 * Global setup of Jest's e2e project. Journeys that need no switches of their own share a stack: one for each of Jest's
 * workers, which runs one file at a time. It has billing, and gives the first account more free numbers than all files use. It
 * is started when the first file requests it, and ends with the run. It lives in this process, as Jest's workers come and go;
 * they request it over loopback HTTP:
 *   POST /stacks/<number of the worker>, with the apps' switches: its addresses and keys
 *   POST /stacks/<number of the worker>/stops/<app>: resolves when the app has ended
 *   POST /stacks/<number of the worker>/starts/<app>: resolves when the app that was stopped is ready again
 *   POST /stacks/<number of the worker>/kills/session-worker: resolves when every session worker has been killed
 *   POST /stacks/<number of the worker>/joins/session-worker: resolves when one more is ready
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { APP_NAMES, type AppName } from '../app-names.js';
import { publishSharedStacks } from '../config.js';
import { ensureGift } from '../launch/accounts-and-money.js';
import { deleteFolder } from '../launch/data-folder.js';
import { startStack } from '../launch/stack.js';
import type { AppSwitches, Stack } from '../launch/stack-options.js';
import { createTestFolder } from './test-folder.js';

interface Shared {
  dataDir: string;
  stack: Stack;
  /** Of each app that is stopped: starts it again. */
  stopped: Map<AppName, () => Promise<void>>;
}

const shared = new Map<string, Promise<Shared>>();
let server: Server | undefined;

async function start(env: AppSwitches): Promise<Shared> {
  const dataDir = await createTestFolder();
  const options = { dataDir, network: 'simulator', billing: true, fast: true, logs: 'silent', env } as const;
  const stack = await startStack(options);
  await ensureGift(stack.databases.global, stack.installation.facts.accountId);
  return { dataDir, stack, stopped: new Map() };
}

/** Resolves when the app has ended; `stopped` then holds what starts it again. */
function stop({ stack, stopped }: Shared, app: AppName): Promise<void> {
  return new Promise((resolve, reject) => {
    const restarted = stack.restart(app, {
      whileDown: () =>
        new Promise((start) => {
          stopped.set(app, () => {
            stopped.delete(app);
            start();
            return restarted;
          });
          resolve();
        }),
    });
    restarted.catch(reject);
  });
}

const isApp = (name: string): name is AppName => APP_NAMES.some((app) => app === name);

/** @returns what the journey gets; undefined when the path leads nowhere */
async function answer(request: IncomingMessage): Promise<object | undefined> {
  const [, , worker = '', action, app = ''] = (request.url ?? '').split('/');
  const found = shared.get(worker);
  if (found && isApp(app)) {
    const running = await found;
    if (action === 'stops') await stop(running, app);
    if (action === 'starts') await running.stopped.get(app)?.();
    if (action === 'kills') await running.stack.killWorkers('SIGKILL');
    if (action === 'joins') await running.stack.startWorker();
    return {};
  }
  if (action !== undefined) return undefined;
  const starting = found ?? start((await json(request)) as AppSwitches);
  shared.set(worker, starting);
  const { urls, publicUrl, databases, accountKey, probes } = (await starting).stack;
  return { urls, publicUrl, databases, accountKey, probes };
}

export default async function serveSharedStacks(): Promise<void> {
  // Journeys pause longer than the 5 s for which Node keeps a connection.
  const starting = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    answer(request).then(
      (body) => response.writeHead(body ? 200 : 404).end(JSON.stringify(body ?? {})),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server = starting;
  starting.listen(0, '127.0.0.1');
  await once(starting, 'listening');
  publishSharedStacks(`http://127.0.0.1:${(starting.address() as AddressInfo).port}`);
}

/** Stops every stack and deletes what it stored. */
export async function stopSharedStacks(): Promise<void> {
  server?.closeAllConnections();
  server?.close();
  await Promise.all(
    [...shared.values()].map(async (starting) => {
      const { stack, dataDir } = await starting;
      await stack.stop();
      deleteFolder(dataDir);
    }),
  );
}
