import { join } from 'node:path';
import { migrate } from '@dormouse/database';
import type { AppName, Stack } from '@dormouse/stack';
import type { Drill } from './drill.js';
import { launchedApp, startBeside, type RunningApp } from './release-app.js';
import { checkOutRelease } from './release-tree.js';
import { onSandbox, type Sandbox } from './sandbox.js';

const ROOT = join(import.meta.dirname, '../../..');
const SHARDS = 4;
/** Readers of events before their writers, the control plane last; back the other way round. */
const ORDER = ['webhook-dispatcher', 'session-worker', 'edge-api', 'control-plane'] as const;
type RolledApp = (typeof ORDER)[number];

/**
 * A region of the last release serves; its databases are migrated and its apps replaced by those of this one, each ready before the
 * former one ends. Then back to the former apps on the present schema.
 */
export const upgrade: Drill = {
  about: 'the last release is upgraded to this one while numbers talk, and rolled back on the new schema',
  runbook: 'deploy.md',
  async run({ isShort, report, from }) {
    const release = await checkOutRelease(report, from);
    try {
      const options = { report, channels: isShort ? SHARDS : 12, workers: 2, shardCount: SHARDS };
      await onSandbox({ ...options, startStack: release.startStack }, async (sandbox) => {
        const rollout = new Rollout(sandbox);
        try {
          await sandbox.traffic.servedAfterMs(Date.now());
          const began = performance.now();
          report.step('step 2: migrations of the new release, the global database and the region');
          await migrate(sandbox.stack.databases.global, 'global');
          await migrate(sandbox.stack.databases.sg, 'regional');
          report.figure('migrations, s', seconds(performance.now() - began));
          await sandbox.traffic.servedAfterMs(Date.now());

          report.step(`step 3: ${ORDER.join(', ')} of this release`);
          report.figure('upgrade of all apps, s', seconds(await rollout.roll(ROOT, ORDER)));
          report.figure('a send of each number after the upgrade, s', seconds(await served(sandbox)));

          report.step('back: the same in reverse, on the present schema');
          report.figure('way back of all apps, s', seconds(await rollout.roll(release.folder, ORDER.toReversed())));
          report.figure('a send of each number after the way back, s', seconds(await served(sandbox)));
          await sandbox.settle();
        } finally {
          await rollout.end();
        }
      });
    } finally {
      await release.remove();
    }
  },
};

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
const served = ({ traffic }: Sandbox): Promise<number> => traffic.servedAfterMs(Date.now());

/** What runs of each app, replaced one process after another. */
class Rollout {
  private readonly running: Map<RolledApp, RunningApp[]>;

  constructor(private readonly sandbox: Sandbox) {
    this.running = new Map(ORDER.map((app) => [app, launched(sandbox.stack, app)]));
  }

  /** @returns milliseconds until everything was replaced */
  async roll(folder: string, order: readonly RolledApp[]): Promise<number> {
    const began = performance.now();
    for (const app of order) {
      for (const old of this.running.get(app) ?? []) {
        const started = await startBeside(folder, app, old);
        if (app === 'edge-api') this.sandbox.traffic.moveTo(started.url);
        this.running.set(app, [...(this.running.get(app) ?? []).filter((one) => one !== old), started]);
        await old.end();
      }
    }
    return performance.now() - began;
  }

  async end(): Promise<void> {
    await Promise.all([...this.running.values()].flat().map((app) => app.end()));
  }
}

function launched({ processes, urls }: Stack, app: RolledApp): RunningApp[] {
  const pids: Record<RolledApp, (number | undefined)[]> = {
    'webhook-dispatcher': [processes['webhook-dispatcher']],
    'session-worker': processes['session-worker'],
    'edge-api': [processes['edge-api']],
    'control-plane': [processes['control-plane']],
  };
  const at: Partial<Record<AppName, string>> = { 'edge-api': urls.edge.sg, 'control-plane': urls.controlPlane };
  return pids[app].flatMap((pid) => (pid === undefined ? [] : [launchedApp(pid, at[app] ?? '')]));
}
