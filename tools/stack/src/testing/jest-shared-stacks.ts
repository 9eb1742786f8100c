/**
 * Global setup of Jest's e2e project. Journeys that need no switches of their own, and neither kill nor replace a process,
 * share a stack: one for each of Jest's workers, which runs one file at a time. It is started when the first file requests
 * it, and ends with the run. It lives in this process, as Jest's workers come and go; they request it over loopback HTTP:
 *   POST /stacks/<number of the worker>, with the apps' switches: its addresses and keys
 *   POST /stacks/<number of the worker>/restarts/<app>: resolves when the app is ready again
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { APP_NAMES, type AppName } from '../app-names.js';
import { publishSharedStacks } from '../config.js';
import { startStack } from '../launch/stack.js';
import type { AppSwitches, Stack } from '../launch/stack-options.js';

interface Shared {
  dataDir: string;
  stack: Stack;
}

const shared = new Map<string, Promise<Shared>>();
let server: Server | undefined;

async function start(env: AppSwitches): Promise<Shared> {
  const dataDir = await mkdtemp(join(tmpdir(), 'dormouse-e2e-'));
  return { dataDir, stack: await startStack({ dataDir, network: 'simulator', fast: true, logs: 'silent', env }) };
}

const isApp = (name: string): name is AppName => APP_NAMES.some((app) => app === name);

/** @returns what the journey gets; undefined when the path leads nowhere */
async function answer(request: IncomingMessage): Promise<object | undefined> {
  const [, , worker = '', action, app = ''] = (request.url ?? '').split('/');
  const found = shared.get(worker);
  if (action === 'restarts' && found && isApp(app)) {
    await (await found).stack.restart(app);
    return {};
  }
  if (action !== undefined) return undefined;
  const starting = found ?? start((await json(request)) as AppSwitches);
  shared.set(worker, starting);
  const { urls, databases, accountKey } = (await starting).stack;
  return { urls, databases, accountKey };
}

export default async function serveSharedStacks(): Promise<void> {
  const starting = createServer((request, response) => {
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
      await rm(dataDir, { recursive: true, force: true });
    }),
  );
}
