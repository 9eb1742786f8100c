import { fileURLToPath } from 'node:url';

/** The servers that the launcher starts, in the order in which they become ready. */
export const APP_NAMES = [
  'network-simulator',
  'control-plane',
  'session-worker',
  'webhook-dispatcher',
  'edge-api',
] as const;

export type AppName = (typeof APP_NAMES)[number];

/** The checkout (or the image) that this launcher belongs to. */
export const ROOT_FOLDER = fileURLToPath(new URL('../../../', import.meta.url));

/** The built entry file of an app. */
export function appEntry(app: AppName): string {
  return `${ROOT_FOLDER}apps/${app}/dist/main.js`;
}
