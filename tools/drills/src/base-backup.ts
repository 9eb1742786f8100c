/** A base backup and its way back to a point in time, as infra/runbooks/restore.md has them. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresFolderOwner } from '@dormouse/stack/store-servers';
import pg from 'pg';

/** Settings of a server that archives its log into a folder, made here; a segment each `timeoutS` at the latest. */
export function archiveSettings(archive: string, timeoutS: number): Record<string, string> {
  mkdirSync(archive, { mode: 0o700 });
  chownSync(archive, postgresFolderOwner(), -1);
  return {
    archive_mode: 'on',
    // Under another name until it is whole; never over a segment that is there.
    archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f`,
    archive_timeout: String(timeoutS),
  };
}

function run(command: string, args: string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8', cwd: '/' });
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`);
}

/** The major version of `pg_basebackup` on the PATH; 0: there is none. */
function toolVersion(): number {
  const { stdout } = spawnSync('pg_basebackup', ['--version'], { encoding: 'utf8' });
  return Number(/ (\d+)/.exec(stdout ?? '')?.[1] ?? 0);
}

/**
 * Takes a base backup by `pg_basebackup`, which must not be older than the server; where it is, by what that calls: the functions of
 * PostgreSQL's low-level backup, with a copy of the data folder between them.
 * @returns the way it went, for the report
 */
export async function takeBaseBackup(databaseUrl: string, dataFolder: string, backup: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ version: string }>(`SELECT current_setting('server_version_num') AS version`);
    const serverVersion = Math.floor(Number(rows[0]?.version) / 10_000);
    if (toolVersion() >= serverVersion) {
      run('pg_basebackup', ['-d', databaseUrl, '-D', backup, '-X', 'none', '-c', 'fast', '--no-manifest']);
      return 'pg_basebackup';
    }
    await client.query(`SELECT pg_backup_start('drill', true)`);
    // Files that come and go while it copies are not part of a backup: the log has what they become.
    spawnSync('cp', ['-a', dataFolder, backup]);
    const stopped = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(true)');
    for (const name of readdirSync(join(backup, 'pg_wal'))) rmSync(join(backup, 'pg_wal', name), { recursive: true });
    for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(join(backup, name), { force: true });
    writeFileSync(join(backup, 'backup_label'), stopped.rows[0]?.labelfile ?? '');
    return `pg_backup_start and pg_backup_stop (pg_basebackup ${toolVersion()} is older than the server)`;
  } finally {
    await client.end();
  }
}

/** Puts a backup in the place of the lost data, to be brought to a moment from the archive when the server starts. */
export function layRestore(backup: string, dataFolder: string, archive: string, target: Date): void {
  run('cp', ['-a', backup, dataFolder]);
  mkdirSync(join(dataFolder, 'pg_wal/archive_status'), { recursive: true });
  const settings = [
    `restore_command = 'cp ${archive}/%f %p'`,
    // Not with Z: when this is read, the server knows no names of time zones yet.
    `recovery_target_time = '${target.toISOString().replace('T', ' ').replace('Z', '+00')}'`,
    `recovery_target_action = 'promote'`,
  ];
  appendFileSync(join(dataFolder, 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
  writeFileSync(join(dataFolder, 'recovery.signal'), '');
  run('chown', ['-R', String(postgresFolderOwner()), dataFolder]);
  chmodSync(dataFolder, 0o700);
}
