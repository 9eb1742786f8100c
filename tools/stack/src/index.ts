export type { Region } from '@dormouse/gateway-contract';
export type { AppName } from './app-names.js';
export { ensureOwner, type NewUser } from './launch/accounts-and-money.js';
export { choosePort } from './processes/free-port.js';
export { deleteFolder } from './launch/data-folder.js';
export { startStack } from './launch/stack.js';
export { createTestFolder } from './testing/test-folder.js';
export type {
  AppSwitches,
  FirstRegion,
  Stack,
  StackOptions,
  StackUrls,
  StoreAddresses,
  Switches,
} from './launch/stack-options.js';
export { claimTestRedis, createTestDatabase, sharedTestDatabaseUrl, type TestStore } from './testing/test-stores.js';
export { serveWaitingLogins, type WaitingLogins } from './commands/waiting-logins.js';
export { shownCodesOf, type ShownCodes } from './commands/shown-codes.js';
