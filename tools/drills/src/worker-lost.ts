import type { Drill } from './drill.js';
import { onSandbox, type SeenWorker } from './sandbox.js';

const SHARDS = 4;

/** Two workers share the numbers; one is killed and does not come back. The other has all of them by itself. */
export const workerLost: Drill = {
  about: 'one of two workers is killed and stays away',
  runbook: 'worker-lost.md',
  run: ({ isShort, report }) =>
    onSandbox({ report, channels: isShort ? SHARDS : 20, workers: 2, shardCount: SHARDS }, async (sandbox) => {
      const { stack, traffic } = sandbox;
      const [killed = 0] = stack.processes['session-worker'];
      report.step(`worker ${killed} is killed with SIGKILL`);
      const killedAtMs = Date.now();
      await stack.killWorker(killed, 'SIGKILL');

      report.step('step 1: GET /sg/workers until the lost one has no shard and the other one has all');
      await sandbox.untilFleet<{ workers: SeenWorker[] }>('/sg/workers', ({ workers }) => {
        const owned = workers.filter(({ living }) => living).flatMap(({ shards }) => shards);
        return workers.some(({ living, shards }) => !living && shards.length === 0) && owned.length === SHARDS;
      });
      report.figure('all shards have an owner again, s', ((Date.now() - killedAtMs) / 1_000).toFixed(1));
      const servedMs = await traffic.servedAfterMs(killedAtMs);
      report.figure('every number sends again, s', (servedMs / 1_000).toFixed(1));
      await sandbox.settle();
    }),
};
