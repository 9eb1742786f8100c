export type { AppName } from './app-names.js';
export { startStack, type Stack, type StackOptions } from './stack.js';
export { claimTestRedis, createTestDatabase, sharedTestDatabaseUrl, type TestStore } from './test-stores.js';
