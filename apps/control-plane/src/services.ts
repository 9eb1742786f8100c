/** Injection tokens of the services that the process opens once (app.module.ts). */
export const GLOBAL_DATABASE = 'global database';
export const LOG = 'log';
export const MAX_CHANNELS = 'channels per account';
