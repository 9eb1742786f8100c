import fastify from 'fastify';
import type { AddressInfo } from 'node:net';
import { OPERATIONS } from './api/operations.js';
import { Sender } from './deliveries/sender.js';
import { serveControl } from './control/control.js';
import { Faults } from './faults/faults.js';
import { seededRandom } from './faults/random.js';
import { serveApi } from './http/api.js';
import { answerErrors } from './http/errors.js';
import { RequestLog } from './http/request-log.js';
import { Store } from './objects/store.js';
import { servePages } from './pages/pages.routes.js';
import { dueAt, runDue } from './subscriptions/due.js';
import { finishAdvances } from './world/advance.js';
import { ensureEndpoint } from './world/endpoint.js';
import { World } from './world/world.js';

const TICK_MS = 500;

/** How a simulator is started. */
export interface StripeSimulatorOptions {
  /** Port to listen on; any free one without it. */
  port?: number;
  /** Address to listen on; this machine alone without it. */
  host?: string;
  /** The address of the hosted pages, where it is not the one that it listens on. */
  publicUrl?: string;
  /** Folder that keeps the state over restarts; without it all is in memory. */
  dataDir?: string;
  /** The API key; one that begins with `sk_live_` makes all objects live ones. */
  secretKey?: string;
  /** An endpoint that is there from the start, with a secret that is known beforehand. */
  webhook?: { url: string; secret: string };
  /** What faults are drawn from: the same seed draws the same. */
  seed?: number;
  /** The wall clock in milliseconds. */
  wallMs?: () => number;
  /** Receives what goes on, for example a webhook that nobody answered. */
  log?: (words: string, details: object) => void;
}

export interface StripeSimulator {
  /** Of the API, the pages and the control API, without a slash at the end. */
  url: string;
  secretKey: string;
  close(): Promise<void>;
}

const DEFAULT_KEY = 'sk_test_simulated';

/** Starts a simulated Stripe. Resolves when it answers; rejects when it cannot listen or the data folder cannot be read. */
export async function startStripeSimulator(options: StripeSimulatorOptions = {}): Promise<StripeSimulator> {
  const { host = '127.0.0.1', secretKey = DEFAULT_KEY, log = () => undefined, wallMs = Date.now } = options;
  const app = fastify({ bodyLimit: 1024 * 1024, forceCloseConnections: true });
  const listening = { url: '' };
  const store = new Store(options.dataDir);
  const livemode = secretKey.startsWith('sk_live_');
  const publicUrl = () => options.publicUrl ?? listening.url;
  const world = new World(store, { publicUrl, livemode, wallMs, dueAt });
  const seed = options.seed ?? 1;
  const faults = new Faults(world, seededRandom(seed));
  // Drawn apart, so that webhooks do not change which requests fail.
  const sender = new Sender(world, seededRandom(seed + 1), log);
  const requests = new RequestLog(wallMs);
  const settle = (): void => {
    runDue(world, null, world.now(null));
    setImmediate(() => finishAdvances(world, (clock, by) => runDue(world, clock, by)));
  };
  const advanceTo = (seconds: number): void => {
    runDue(world, null, seconds);
    world.changeState({ aheadSeconds: seconds - Math.floor(wallMs() / 1000) });
  };
  if (options.webhook) ensureEndpoint(world, options.webhook);
  answerErrors(app, world, log);
  app.get('/healthz', () => ({ ok: true }));
  serveControl(app, { world, faults, sender, log: requests, advanceTo, settle });
  serveApi(app, { world, operations: OPERATIONS, faults, secretKey, log: requests, settle });
  servePages(app, { world, settle });
  await app.listen({ port: options.port ?? 0, host });
  const { port } = app.server.address() as AddressInfo;
  listening.url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const tick = setInterval(settle, TICK_MS).unref();
  sender.kick();
  return {
    ...{ url: listening.url, secretKey },
    close: async () => {
      clearInterval(tick);
      faults.release();
      await sender.stop();
      await app.close();
      store.close();
    },
  };
}
