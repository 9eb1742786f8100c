import { spawnSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Drill } from './drill.js';
import { LostStores, MountRefused } from './lost-stores.js';
import { onSandbox } from './sandbox.js';
import { until } from './traffic.js';

const DISK_MB = 400;
const CHUNK = Buffer.alloc(1_048_576);
const WITHIN_MS = 90_000;

function fill(file: string): void {
  for (const chunk of [CHUNK, CHUNK.subarray(0, 4_096)]) {
    try {
      for (;;) appendFileSync(file, chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

/** The disk of the region's PostgreSQL fills up while numbers talk; space is made, and the server is started where it ended. */
export const diskFull: Drill = {
  about: "the disk of a region's PostgreSQL is full",
  runbook: 'disk-full.md',
  run: async ({ isShort, report }) => {
    let stores: LostStores;
    try {
      stores = await LostStores.start({ diskMb: DISK_MB });
    } catch (error) {
      if (!(error instanceof MountRefused)) throw error;
      report.step(error.message);
      report.figure('skipped', 'a small disk cannot be mounted here');
      return;
    }
    try {
      const env = (addresses: Parameters<LostStores['switches']>[0]) => Promise.resolve(stores.switches(addresses));
      await onSandbox({ report, channels: isShort ? 2 : 10, env }, async (sandbox) => {
        const { traffic } = sandbox;
        const filler = join(stores.dataFolder, '..', 'filler');
        report.step(`the disk of ${DISK_MB} MB fills up`);
        fill(filler);
        // Segments of the log that are there already are used up first.
        const refusedAfter = traffic.answered(503);
        let isFull = false;
        while (!isFull) {
          spawnSync('sync');
          await stores.query('SELECT pg_switch_wal()').catch(() => undefined);
          fill(filler);
          await delay(200);
          isFull = !stores.isPostgresUp || traffic.answered(503) > refusedAfter + 3;
        }
        const fullAtMs = Date.now();
        report.step(stores.isPostgresUp ? 'sends are refused' : 'PostgreSQL has ended: its log cannot grow');
        await delay(isShort ? 3_000 : 20_000);
        report.step('steps 2 and 3: space is made; the server is started if it has ended');
        rmSync(filler);
        if (!stores.isPostgresUp) await stores.startPostgresAgain();
        const freeAtMs = Date.now();
        await until('the database writes', WITHIN_MS, () =>
          stores.query('SELECT pg_current_wal_lsn()').catch(() => false),
        );
        const servedMs = await traffic.servedAfterMs(freeAtMs);
        report.figure('full for, s', ((freeAtMs - fullAtMs) / 1_000).toFixed(1));
        report.figure('every number sends again, s after there is space', (servedMs / 1_000).toFixed(1));
        await sandbox.settle();
      });
    } finally {
      await stores.close();
    }
  },
};
