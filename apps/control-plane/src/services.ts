/** Names of what the process opens once and modules are given (app.module.ts). */
export const GLOBAL_DATABASE = 'global database';
export const LOG = 'log';
export const MAX_CHANNELS = 'channels per account';
