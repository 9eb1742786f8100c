import { setTimeout as delay } from 'node:timers/promises';
import type { Drill } from './drill.js';
import { LostStores } from './lost-stores.js';
import { onSandbox } from './sandbox.js';

/** A region's Redis ends with all that was in it, is away for a while, and comes back empty. Nothing else is done. */
export const redisLost: Drill = {
  about: "a region's Redis is lost with its data, and comes back empty",
  runbook: 'store-away.md',
  run: async ({ isShort, report }) => {
    const stores = await LostStores.start();
    try {
      const env = (addresses: Parameters<LostStores['switches']>[0]) => Promise.resolve(stores.switches(addresses));
      await onSandbox({ report, channels: isShort ? 2 : 10, env }, async (sandbox) => {
        const { traffic } = sandbox;
        const inTime = sandbox.receiver.deliveries.length;
        report.step('Redis is killed with SIGKILL');
        await stores.loseRedis();
        const lostAtMs = Date.now();
        await delay(isShort ? 2_000 : 20_000);
        report.figure('texts delivered while it was away', sandbox.receiver.deliveries.length - inTime);
        report.step('step 3: an empty Redis starts at its address; nothing else is done');
        await stores.startRedisAgain();
        const backAtMs = Date.now();
        const servedMs = await traffic.servedAfterMs(lostAtMs);
        report.figure('Redis was away, s', ((backAtMs - lostAtMs) / 1_000).toFixed(1));
        report.figure(
          'every number sends again, s after it is back',
          ((servedMs - backAtMs + lostAtMs) / 1_000).toFixed(1),
        );
        await sandbox.settle();
      });
    } finally {
      await stores.close();
    }
  },
};
