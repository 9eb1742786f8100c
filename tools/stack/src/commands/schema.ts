/**
 * `npm run db:migration -- <scope> <name>` writes the migration that a change of schema.prisma needs;
 * `npm run db:check` fails if a schema is ahead of its migrations.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMigration, pendingMigration } from '@dormouse/database/schema-engine';
import { ProcessRegister } from '../processes/process-register.js';
import { postgresDataFolder, startPostgres } from '../stores/postgres.js';

const SCOPES = ['global', 'regional'] as const;
type Scope = (typeof SCOPES)[number];

/** Runs `work` beside a PostgreSQL of its own, which is gone afterwards. */
async function withServer<T>(work: (url: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'dormouse-schema-'));
  const register = await ProcessRegister.open(dir);
  try {
    const server = await startPostgres({ register, dir: join(dir, 'postgres'), durable: false });
    try {
      return await work(server.url('postgres'));
    } finally {
      await server.stop();
    }
  } finally {
    register.close();
    rmSync(postgresDataFolder(join(dir, 'postgres')), { recursive: true, force: true });
    rmSync(dir, { recursive: true, force: true });
  }
}

async function check(): Promise<number> {
  return withServer(async (url) => {
    let behind = 0;
    for (const scope of SCOPES) {
      const sql = await pendingMigration(url, scope);
      if (sql === undefined) {
        console.log(`${scope}: the migrations match schema.prisma`);
      } else {
        behind += 1;
        console.error(`${scope}: schema.prisma is ahead of its migrations. Missing:\n${sql}`);
      }
    }
    return behind === 0 ? 0 : 1;
  });
}

async function create(scope: Scope, name: string): Promise<number> {
  const folder = await withServer((url) => createMigration(url, scope, name));
  console.log(folder === undefined ? 'Nothing to migrate.' : `Read it before you commit it: ${folder}/migration.sql`);
  return 0;
}

function isScope(text: string | undefined): text is Scope {
  return SCOPES.some((scope) => scope === text);
}

const [command, scope, ...words] = process.argv.slice(2);
if (command === 'check') {
  process.exitCode = await check();
} else if (command === 'create' && isScope(scope) && words.length > 0) {
  process.exitCode = await create(scope, words.join(' '));
} else {
  console.error('npm run db:check\nnpm run db:migration -- <global|regional> <name>');
  process.exitCode = 2;
}
