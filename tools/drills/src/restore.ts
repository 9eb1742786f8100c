/**
 * A region loses its database and its bucket, and is restored to a point in time, step by step as infra/runbooks/restore.md has it.
 * What that page promises is compared: no number is scanned again, and nothing that was sent is sent again.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LinkedChannel } from '@dormouse/bench/world';
import { archiveSettings, layRestore, takeBaseBackup } from './base-backup.js';
import { BucketReplication, copyBucket } from './bucket-copy.js';
import type { Drill } from './drill.js';
import { LostStores } from './lost-stores.js';
import { LostTimeChannels } from './lost-time-channels.js';
import type { Report } from './report.js';
import { onSandbox, type Sandbox } from './sandbox.js';
import { until } from './traffic.js';

const AFTER_RESTORE = new URL('../../../infra/postgres/after-restore.sql', import.meta.url);
const AFTER_RESTORE_GLOBAL = new URL('../../../infra/postgres/after-restore-global.sql', import.meta.url);
/** A segment of the log is archived this long after the one before, at the latest. */
const ARCHIVE_TIMEOUT_S = 1;
const QUICK_SLEEP = { SLEEP_CHECK_EVERY_MS: '200', SLEEP_LISTENING_IDLE_AFTER_MS: '1500' };
const WITHIN_MS = 90_000;

class RestoreDrill {
  private readonly report: Report;
  private readonly archive: string;
  private readonly backup: string;
  private readonly lostTime: LostTimeChannels;

  constructor(
    private readonly sandbox: Sandbox,
    private readonly stores: LostStores,
    private readonly isShort: boolean,
    report: Report,
  ) {
    this.report = report;
    this.archive = join(stores.folder, 'archive');
    this.backup = join(stores.folder, 'backup');
    this.lostTime = new LostTimeChannels(sandbox);
  }

  async run(): Promise<void> {
    const { report, stores, sandbox } = this;
    const copy = await stores.openCopyBucket();
    try {
      report.step('before: the bucket is replicated, the log archived; a base backup is taken');
      const replication = new BucketReplication(stores.bucket, copy.place);
      const way = await takeBaseBackup(stores.databaseUrl, stores.dataFolder, this.backup);
      report.step(`the base backup is there, by ${way}`);
      await Promise.all(sandbox.quiet.map((channel) => this.sendOnce(channel, 'before the target')));
      await Promise.all(sandbox.quiet.map((channel) => this.untilAsleep(channel)));
      await delay(this.isShort ? 1_000 : 15_000);

      await this.lostTime.make();
      const target = await this.chooseTarget(replication);
      report.step(`the target will be ${target.toISOString()}; a number that slept is used after it, and sleeps again`);
      await Promise.all(sandbox.quiet.slice(1).map((channel) => this.sendOnce(channel, 'after the target')));
      await this.lostTime.change();
      await Promise.all(sandbox.quiet.map((channel) => this.untilAsleep(channel)));
      await this.untilArchivedAfter(target);
      await replication.stop();

      report.step('database and bucket are lost with their disks');
      await stores.losePostgresAndBucket();
      const lostAtMs = Date.now();
      await this.restore(copy.place, target);
      await this.compare(target.getTime(), lostAtMs);
    } finally {
      await copy.close();
    }
  }

  /** Steps 1 to 7 of the runbook. */
  private async restore(copy: Parameters<typeof copyBucket>[0], target: Date): Promise<void> {
    const { report, stores, sandbox } = this;
    const { stack } = sandbox;
    report.step("step 1: the region's workers, edge and dispatcher are ended");
    await stack.killWorkers('SIGKILL');
    await stack.restart('edge-api', {
      whileDown: () =>
        stack.restart('webhook-dispatcher', {
          whileDown: async () => {
            report.step('step 2: the bucket comes back from its copy');
            await stores.startBucketAgain();
            report.figure('objects copied back', await copyBucket(copy, stores.bucket));
            report.step('step 3: the base backup is laid down, the log replayed up to the target');
            layRestore(this.backup, stores.dataFolder, this.archive, target);
            await stores.startPostgresAgain();
            await until('the database is past its recovery', WITHIN_MS, async () => {
              const [row] = await stores.query<{ over: boolean }>('SELECT NOT pg_is_in_recovery() AS over');
              return row?.over;
            });
            report.step('step 4: infra/postgres/after-restore.sql');
            await stores.query(readFileSync(AFTER_RESTORE, 'utf8'));
            report.step('step 5: Redis starts empty');
            await stores.loseRedis();
            await stores.startRedisAgain();
            report.step('step 6: infra/postgres/after-restore-global.sql');
            await this.lostTime.bringAgain(readFileSync(AFTER_RESTORE_GLOBAL, 'utf8'), target, WITHIN_MS);
            report.step('step 7: dispatcher, edge and worker are started');
          },
        }),
    });
    await stack.startWorker();
  }

  private async compare(targetMs: number, lostAtMs: number): Promise<void> {
    const { report, sandbox } = this;
    const { traffic } = sandbox;
    const servedMs = await traffic.servedAfterMs(lostAtMs);
    report.figure('every number that was awake sends again, s after the loss', (servedMs / 1_000).toFixed(1));
    const wakingMs = performance.now();
    const refused = await Promise.all(sandbox.quiet.map((channel) => this.sendOnce(channel, 'after the restore')));
    report.figure('every number that slept sends again, ms', Math.round(performance.now() - wakingMs));
    report.promise('no number is scanned again', refused.flat());

    report.promise('tokens of the lost time are refused, and a rotated one works', await this.lostTime.faults());

    report.step('step 8: requests of the lost time are repeated under their keys, as their customers may');
    const unknown = await traffic.repeatAccepted(targetMs, lostAtMs);
    report.figure('sends accepted in the lost time, which the region does not know', unknown);
    report.figure('lost time (target to loss), s', ((lostAtMs - targetMs) / 1_000).toFixed(1));
    // What waited at the network was encrypted for the discarded keys: phones repeat it on request, each message by itself.
    await traffic.delivered(lostAtMs, Date.now());
    report.figure(
      'all that waited at the network is delivered, s after the loss',
      ((Date.now() - lostAtMs) / 1_000).toFixed(1),
    );
    await delay(this.isShort ? 1_000 : 15_000);
    // What was written just before the target may have been received after it.
    await sandbox.settle({ fromMs: targetMs - 1_000, toMs: lostAtMs });
    report.promise('texts of the numbers that slept are on the phone once', await this.quietFaults());
  }

  /** The newest moment up to which the copy of the bucket is complete, by the database's clock, which is this machine's. */
  private async chooseTarget(replication: BucketReplication): Promise<Date> {
    const fromMs = Date.now();
    await until('the copy of the bucket is complete', WITHIN_MS, () => replication.completeUntilMs > fromMs);
    return new Date(replication.completeUntilMs);
  }

  /** The archive reaches past the target: recovery ends there only if there is something after it. */
  private async untilArchivedAfter(target: Date): Promise<void> {
    await until('the log is archived beyond the target', WITHIN_MS, async () => {
      const [row] = await this.stores.query<{ past: boolean }>(
        `SELECT last_archived_time > $1::timestamptz + interval '2 seconds' AS past FROM pg_stat_archiver`,
        [target],
      );
      return row?.past;
    });
  }

  /** @returns what is wrong with it: nothing, when it was accepted in time */
  private async sendOnce(channel: LinkedChannel, when: string): Promise<string[]> {
    const text = `${channel.id} ${when}`;
    let status = 0;
    await until(`${channel.phone} sends`, WITHIN_MS, async () => {
      status = await this.sandbox.world.send(channel, this.sandbox.traffic.friend, text).catch(() => 0);
      return status === 200;
    }).catch(() => undefined);
    return status === 200 ? [] : [`${channel.phone}: ${status}`];
  }

  private async quietFaults(): Promise<string[]> {
    const { sandbox } = this;
    const texts = await sandbox.world.textsOf(sandbox.traffic.friend);
    return sandbox.quiet.flatMap(({ id }, index) =>
      ['before the target', ...(index === 0 ? [] : ['after the target']), 'after the restore'].flatMap((when) => {
        const times = texts.filter((text) => text === `${id} ${when}`).length;
        return times === 1 ? [] : [`${id} ${when}: ${times} times`];
      }),
    );
  }

  private async untilAsleep({ token, phone }: LinkedChannel): Promise<void> {
    const { world, stack } = this.sandbox;
    await until(`${phone} sleeps`, WITHIN_MS, async () => {
      const url = `${stack.urls.edge.sg}/health`;
      const { status } = await world.call<{ status: { hibernated?: boolean } }>(url, 'GET', undefined, token);
      return status.hibernated === true;
    });
  }
}

export const restore: Drill = {
  about: "a region's database and bucket are lost, and restored to a point in time",
  runbook: 'restore.md',
  run: async ({ isShort, report }) => {
    const stores = await LostStores.start({
      postgresSettings: (folder) => archiveSettings(join(folder, 'archive'), ARCHIVE_TIMEOUT_S),
    });
    try {
      await onSandbox(
        {
          report,
          channels: isShort ? 2 : 8,
          quiet: isShort ? 2 : 6,
          env: (addresses) => {
            const switches = stores.switches(addresses);
            const worker = { ...switches['session-worker'], ...QUICK_SLEEP };
            return Promise.resolve({ ...switches, 'session-worker': worker });
          },
        },
        (sandbox) => new RestoreDrill(sandbox, stores, isShort, report).run(),
      );
    } finally {
      await stores.close();
    }
  },
};
