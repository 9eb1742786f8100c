export * from './access.js';
export * from './account.js';
export * from './channels.js';
export * from './error-envelope.js';
export * from './events.js';
export * from './fleet.js';
export * from './openapi.js';
export type * from './operation.js';
export * from './operations.js';
