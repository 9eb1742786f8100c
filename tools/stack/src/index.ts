export type { AppName } from './app-names.js';
export {
  startStack,
  type AppSwitches,
  type Stack,
  type StackOptions,
  type StoreAddresses,
  type Switches,
} from './stack.js';
export { claimTestRedis, createTestDatabase, sharedTestDatabaseUrl, type TestStore } from './test-stores.js';
export { serveWaitingLogins, type WaitingLogins } from './waiting-logins.js';
