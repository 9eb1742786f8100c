export { claimTestRedis, createTestDatabase, sharedTestDatabaseUrl, type TestStore } from './test-stores.js';
