import { Counter, Gauge, type Registry } from 'prom-client';

/** The part of a `pg` pool that is measured. */
export interface MeasuredPool {
  readonly totalCount: number;
  readonly idleCount: number;
  /** Who waits for a connection. */
  readonly waitingCount: number;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** The part of an `ioredis` client that is measured. */
export interface MeasuredRedis {
  readonly status: string;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Measures a server's connections to its stores, each under the name it is given here. */
export function measureConnections(
  registry: Registry,
  { databases = {}, redis = {} }: { databases?: Record<string, MeasuredPool>; redis?: Record<string, MeasuredRedis> },
): void {
  const registers = [registry];
  const errors = new Counter({
    name: 'dormouse_connection_errors_total',
    help: 'Connections to a store that were lost or refused',
    labelNames: ['to'],
    registers,
  });
  new Gauge({
    name: 'dormouse_database_connections',
    help: 'Connections of a database pool that are busy and idle, and requests that wait for one',
    labelNames: ['database', 'state'],
    registers,
    collect() {
      for (const [database, { totalCount, idleCount, waitingCount }] of Object.entries(databases)) {
        this.set({ database, state: 'busy' }, totalCount - idleCount);
        this.set({ database, state: 'idle' }, idleCount);
        this.set({ database, state: 'waiting' }, waitingCount);
      }
    },
  });
  new Gauge({
    name: 'dormouse_redis_connected',
    help: '1 while the connection to Redis is usable',
    labelNames: ['connection'],
    registers,
    collect() {
      for (const [connection, { status }] of Object.entries(redis))
        this.set({ connection }, status === 'ready' ? 1 : 0);
    },
  });
  for (const [to, store] of Object.entries({ ...databases, ...redis })) {
    errors.inc({ to }, 0);
    store.on('error', () => errors.inc({ to }));
  }
}
