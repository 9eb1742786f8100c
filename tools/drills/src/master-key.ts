import { randomBytes } from 'node:crypto';
import type { Switches } from '@dormouse/stack';
import pg from 'pg';
import type { Drill } from './drill.js';
import { onSandbox, type Sandbox } from './sandbox.js';
import { until } from './traffic.js';

const NEW_ID = 'drill-2';
const QUICK = { SLEEP_CHECK_EVERY_MS: '200', SLEEP_LISTENING_IDLE_AFTER_MS: '1500', REWRAP_EVERY_MS: '1000' };
const WITHIN_MS = 90_000;

/** The statement of step 5. */
const LEFT = `SELECT count(*)::int AS left FROM channels c LEFT JOIN channel_keys k ON k.channel_id = c.id
  WHERE k.master_key_id <> $1
     OR EXISTS (SELECT 1 FROM jsonb_array_elements(c.snapshots) s WHERE s ->> 'masterKeyId' <> $1)`;

/** Rolls the only worker: the new one is ready before the old one goes. */
async function roll({ stack }: Sandbox, switches: Switches): Promise<void> {
  const [former = 0] = stack.processes['session-worker'];
  await stack.startWorker(switches);
  await stack.killWorker(former, 'SIGTERM');
}

/** The master key of sessions is changed while numbers talk and others sleep; then the former one is forgotten. */
export const masterKey: Drill = {
  about: 'the master key is changed, and the former one forgotten',
  runbook: 'rotate-master-key.md',
  run: ({ isShort, report }) =>
    onSandbox(
      { report, channels: isShort ? 2 : 10, quiet: isShort ? 2 : 10, env: { 'session-worker': QUICK } },
      async (sandbox) => {
        const { stack, traffic, world, quiet } = sandbox;
        const { masterKey: former, masterKeyId: formerId } = stack.installation.facts;
        const database = new pg.Client({ connectionString: stack.databases.sg });
        await database.connect();
        try {
          const left = async (): Promise<number> =>
            (await database.query<{ left: number }>(LEFT, [NEW_ID])).rows[0]?.left ?? -1;
          await until('the quiet numbers sleep', WITHIN_MS, async () => {
            const { rows } = await database.query(`SELECT FROM channels WHERE session_state = 'hibernated'`);
            return rows.length === quiet.length;
          });
          const startedMs = Date.now();
          const added = randomBytes(32).toString('base64');
          report.step(`steps 1 and 2: a new key; workers are rolled with it in MASTER_KEYS_EARLIER`);
          await roll(sandbox, { MASTER_KEYS_EARLIER: JSON.stringify({ [NEW_ID]: added }) });
          report.step('step 3: the new key is the current one; workers are rolled');
          const current = { MASTER_KEY: added, MASTER_KEY_ID: NEW_ID };
          await roll(sandbox, { ...current, MASTER_KEYS_EARLIER: JSON.stringify({ [formerId]: former }) });
          report.figure('channels under the former key', await left());
          report.step('steps 4 and 5: waiting until nothing is left under the former key');
          await until('nothing is left', WITHIN_MS, async () => (await left()) === 0);
          report.step('step 6: the former key is forgotten; workers are rolled');
          await roll(sandbox, { ...current, MASTER_KEYS_EARLIER: '{}' });
          report.figure('from the first step to the last, s', ((Date.now() - startedMs) / 1_000).toFixed(1));
          await traffic.servedAfterMs(Date.now());
          const refused = await Promise.all(
            quiet.map(async (channel) => {
              const status = await world.send(channel, traffic.friend, `${channel.id} woken under the new key`);
              return status === 200 ? [] : [`${channel.phone}: ${status}`];
            }),
          );
          report.promise('every sleeping number wakes under the new key', refused.flat());
          await sandbox.settle();
        } finally {
          await database.end();
        }
      },
    ),
};
