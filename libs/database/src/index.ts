export { Prisma as GlobalPrismaNamespace } from './generated/global/client.js';
export { Prisma as RegionalPrismaNamespace } from './generated/regional/client.js';
export { Coalescer, type CoalescerTerms, type Flushed } from './coalescer.js';
export { FENCE_CTE, FENCES_CTE, FencedError, fencedTransaction, type Fence } from './fence.js';
export { GroupedWrites, type Outcome, type WritingWays } from './grouped-writes.js';
export type { Listener, ListenOptions } from './listen.js';
export { migrate, migrationsFolder, type DatabaseScope } from './migrate.js';
export {
  openGlobalDatabase,
  openRegionalConnections,
  openRegionalDatabase,
  type Connection,
  type Database,
  type DatabaseOptions,
  type GlobalDatabase,
  type GlobalPrisma,
  type RegionalConnections,
  type RegionalDatabase,
  type RegionalPrisma,
} from './open-database.js';
export { retryWhileAway, type RetryTerms } from './retry-while-away.js';
export {
  columnOf,
  declaredStatements,
  defineStatement,
  narrowed,
  parameterOf,
  type ColumnType,
  type Declaration,
  type DeclaredStatement,
  type Narrowed,
  type ParameterType,
  type ParameterValues,
  type Queryable,
  type RowOf,
  type RowOfColumns,
} from './statement.js';
export { isStoreAway } from './store-errors.js';
export { missingMigrations, ownMigrations, requireMigrations, SchemaBehindError } from './schema-check.js';
export { storable, storableJson } from './storable-text.js';
export { transaction } from './transaction.js';
