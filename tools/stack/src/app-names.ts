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

/** The checkout (or the image) that this launcher belongs to. */
export const ROOT_FOLDER = fileURLToPath(new URL('../../../', import.meta.url));

/** The built entry file of an app. */
export function appEntry(app: AppName): string {
  return `${ROOT_FOLDER}apps/${app}/dist/main.js`;
}
