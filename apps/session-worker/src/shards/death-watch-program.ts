/**
 * The process beside a worker: frees the shards of the worker when it has died (see death-watch.ts for the proof and what
 * follows from it). It has no connection and nearly no code loaded before that.
 */
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterDeath } from './after-death.js';
import type { DeathWatchOrder } from './death-watch.js';

async function freeAfterDeath({ workerId, workerPid, databaseUrl, leaseTtlMs }: DeathWatchOrder): Promise<void> {
  const [{ freeShardsOfDeadWorker }, { pino }] = await Promise.all([
    import('@dormouse/database/shards'),
    import('pino'),
  ]);
  const log = pino({ name: 'session-worker', formatters: { level: (level) => ({ level }) } });
  try {
    const isDead = await afterDeath({
      isDead: () => process.ppid !== workerPid,
      free: () => freeShardsOfDeadWorker(databaseUrl, workerId, leaseTtlMs),
      pause: delay,
      leaseTtlMs,
      onFreed: (shards) => log.warn({ workerId, shards }, 'worker died: its shards are free'),
    });
    if (!isDead) log.warn({ workerId }, 'death watch has lost its pipe to a worker that lives');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ workerId, reason }, 'worker died: its shards wait for the end of their leases');
  }
}

// What ends the worker in order must leave its witness: it ends by itself after the worker.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
const lines: string[] = [];
for await (const line of createInterface({ input: process.stdin })) lines.push(line);
const [order, endsInOrder] = lines;
if (order !== undefined && endsInOrder === undefined) await freeAfterDeath(JSON.parse(order) as DeathWatchOrder);
