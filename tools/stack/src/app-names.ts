import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The servers that the launcher starts, some of them on request, in the order in which they become ready. */
export const APP_NAMES = [
  'network-simulator',
  'mailbox',
  'stripe-simulator',
  'billing',
  'control-plane',
  'session-worker',
  'webhook-dispatcher',
  'edge-api',
] as const;

export type AppName = (typeof APP_NAMES)[number];

/** What stands in for others' services, in the sandbox and in tests. */
export const SIMULATIONS = ['network-simulator', 'mailbox', 'stripe-simulator'] as const satisfies readonly AppName[];

export type Simulation = (typeof SIMULATIONS)[number];

/** The apps that keep data in stores: each has an account of its own in PostgreSQL, Redis and the object storage. */
export const STORE_APPS = [
  'edge-api',
  'session-worker',
  'webhook-dispatcher',
  'control-plane',
  'billing',
] as const satisfies readonly AppName[];

export type StoreApp = (typeof STORE_APPS)[number];

/** Which of them use a region's database, and which the global one. */
export const DATABASE_APPS = {
  regional: STORE_APPS,
  global: ['control-plane', 'billing'],
} as const satisfies Record<string, readonly StoreApp[]>;

/** Name of an app's role in PostgreSQL, which is also its account. */
export function databaseRole(app: StoreApp): string {
  return `dormouse_${app.replaceAll('-', '_')}`;
}

export function isStoreApp(app: AppName): app is StoreApp {
  return STORE_APPS.some((name) => name === app);
}

/** One value for each app that keeps data. */
export function byApp<Value>(of: (app: StoreApp) => Value): Record<StoreApp, Value> {
  const [edge, worker, dispatcher, control, billing] = STORE_APPS;
  return {
    [edge]: of(edge),
    [worker]: of(worker),
    [dispatcher]: of(dispatcher),
    [control]: of(control),
    [billing]: of(billing),
  };
}

/** The checkout (or the image) that this launcher belongs to. */
export const ROOT_FOLDER = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * The built entry file of an app: its bundle, unless it has none or something that it is made of was compiled since.
 * @param root with a slash at its end
 */
export function appEntry(app: AppName, root = ROOT_FOLDER): string {
  const dist = `${root}apps/${app}/dist/`;
  const bundle = `${dist}bundle/main.js`;
  const compiled = [dist, ...readdirSync(`${root}libs`).map((lib) => `${root}libs/${lib}/dist/`)];
  const compiledAtMs = Math.max(...compiled.map((folder) => changedAtMs(`${folder}.tsbuildinfo`)));
  return changedAtMs(bundle) > compiledAtMs ? bundle : `${dist}main.js`;
}

/** 0 where there is no such file. */
function changedAtMs(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
