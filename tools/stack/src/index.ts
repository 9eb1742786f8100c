export type { AppName } from './app-names.js';
export {
  startStack,
  type AppSwitches,
  type Stack,
  type StackOptions,
  type StoreAddresses,
  type Switches,
} from './launch/stack.js';
export { claimTestRedis, createTestDatabase, sharedTestDatabaseUrl, type TestStore } from './testing/test-stores.js';
export { serveWaitingLogins, type WaitingLogins } from './commands/waiting-logins.js';
