import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient as GlobalPrisma } from './generated/global/client.js';
import { PrismaClient as RegionalPrisma } from './generated/regional/client.js';
import { listen, type Listener, type ListenOptions } from './listen.js';

/** How to reach a database. */
export interface DatabaseOptions {
  /** `postgresql://user:password@host:port/name` */
  url: string;
  /** Shown in pg_stat_activity; the app's name. */
  applicationName: string;
  maxConnections?: number;
  /** A statement that runs longer is cancelled by the server. */
  statementTimeoutMs?: number;
  /** A transaction that was idle for longer is ended by the server. */
  silentTransactionMs?: number;
  /**
   * For an app whose statements find their rows by keys: PostgreSQL plans each once per connection, for any values. Otherwise it plans
   * an execution anew while that seems cheaper, which for a page of a large channel is always (for a limit that it does not know it
   * assumes a tenth of all rows), and takes longer than reading the page.
   */
  plansOnce?: boolean;
}

/**
 * One connected database. `prisma` and `pool` share the same connections: Prisma for everyday queries, the pool with
 * named (prepared) statements for the hot paths, where it costs a fifth of the CPU.
 */
export interface Database<Prisma> {
  readonly prisma: Prisma;
  readonly pool: pg.Pool;
  /** Listens on a connection beside the pool, to the same server. The caller closes it. */
  listen(options: ListenOptions): Listener;
  /** Waits for running queries and closes every connection. */
  close(): Promise<void>;
}

export type GlobalDatabase = Database<GlobalPrisma>;
export type RegionalDatabase = Database<RegionalPrisma>;
/** A connection inside a transaction, for raw statements. */
export type Connection = pg.PoolClient;
export type { GlobalPrisma, RegionalPrisma };

/**
 * Less than a lease lasts: a process that falls silent in the middle of a fenced transaction (paused, or cut off from here) keeps
 * the next owner waiting for its locks no longer than for its lease.
 */
const SILENT_TRANSACTION_MS = 5_000;
/** The server's word that it has cancelled a statement needs no longer to arrive. */
const CANCEL_ON_ITS_WAY_MS = 2_000;

function serverOf(options: DatabaseOptions): pg.ClientConfig {
  return {
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  };
}

function openPool(options: DatabaseOptions): pg.Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? 15_000;
  const pool = new pg.Pool({
    ...serverOf(options),
    max: options.maxConnections ?? 10,
    idleTimeoutMillis: 30_000,
    statement_timeout: statementTimeoutMs,
    // A connection that died without a word (a router that forgot it) would hold its caller for a quarter of an hour.
    query_timeout: statementTimeoutMs + CANCEL_ON_ITS_WAY_MS,
    idle_in_transaction_session_timeout: options.silentTransactionMs ?? SILENT_TRANSACTION_MS,
    ...(options.plansOnce && { options: '-c plan_cache_mode=force_generic_plan' }),
  });
  // One that ends while somebody uses it, between two statements, fails the next one; unheard it would end the process.
  pool.on('connect', (connection) => connection.on('error', () => undefined));
  // An idle connection that the server closes (restart, failover) must not end the process; the pool replaces it.
  pool.on('error', () => undefined);
  return pool;
}

/** Connections without Prisma, for raw statements alone: cheap enough to be opened for one piece of work. */
export type RegionalConnections = Omit<RegionalDatabase, 'prisma'>;

/** Connects (lazily) to a region's database, for raw statements alone. */
export function openRegionalConnections(options: DatabaseOptions): RegionalConnections {
  const pool = openPool(options);
  return { pool, listen: (what) => listen(serverOf(options), what), close: () => pool.end() };
}

function connected<Prisma extends { $disconnect(): Promise<void> }>(
  options: DatabaseOptions,
  prismaOn: (pool: pg.Pool) => Prisma,
): Database<Prisma> {
  const connections = openRegionalConnections(options);
  const prisma = prismaOn(connections.pool);
  return {
    ...connections,
    prisma,
    close: async () => {
      await prisma.$disconnect();
      await connections.close();
    },
  };
}

/** Connects (lazily) to the global database. */
export function openGlobalDatabase(options: DatabaseOptions): GlobalDatabase {
  return connected(options, (pool) => new GlobalPrisma({ adapter: new PrismaPg(pool) }));
}

/** Connects (lazily) to a region's database. */
export function openRegionalDatabase(options: DatabaseOptions): RegionalDatabase {
  return connected(options, (pool) => new RegionalPrisma({ adapter: new PrismaPg(pool) }));
}
