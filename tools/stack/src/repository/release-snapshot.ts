/**
 * `npm run release:snapshot` writes `prisma/released` from this source tree: its migrations and every declared statement. To be run
 * for each release, on the commit that is released. The specs of `src/repository` hold later changes to it.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { declaredStatements, migrationsFolder, ownMigrations, type DatabaseScope } from '@dormouse/database';
import { ROOT_FOLDER } from '../app-names.js';
import { productionFiles } from './test-sources.js';

const SCOPES = ['global', 'regional'] as const;
const FOLDER = `${ROOT_FOLDER}prisma/released`;

async function checksums(scope: DatabaseScope): Promise<Record<string, string>> {
  const names = await ownMigrations(scope);
  const sumOf = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(`${migrationsFolder(scope)}/${name}/migration.sql`))
      .digest('hex');
  return Object.fromEntries(names.map((name) => [name, sumOf(name)]));
}

/** Loads every module that declares a statement, as it was built. */
async function loadStatements(): Promise<void> {
  for (const path of productionFiles(ROOT_FOLDER)) {
    if (!/\bdefine\w*(?:Statement|Search|CursorWrite)\(/.test(readFileSync(path, 'utf8'))) continue;
    const built = path.replace('/src/', '/dist/').replace(/\.ts$/, '.js');
    await import(pathToFileURL(built).href);
  }
}

const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT_FOLDER, encoding: 'utf8' }).trim();
await loadStatements();
const statements = declaredStatements()
  .map(({ name, text, scope = 'regional' }) => ({ title: `${scope}: ${name}`, text }))
  .toSorted((a, b) => (a.title < b.title ? -1 : 1));
const migrations = { commit, global: await checksums('global'), regional: await checksums('regional') };
mkdirSync(FOLDER, { recursive: true });
writeFileSync(`${FOLDER}/migrations.json`, `${JSON.stringify(migrations, undefined, 2)}\n`);
writeFileSync(
  `${FOLDER}/statements.sql`,
  `-- Statements of the last release, written by npm run release:snapshot: they must run on every later schema until the next release.\n\n` +
    statements.map(({ title, text }) => `-- ${title}\n${text.trim()};\n`).join('\n'),
);
console.log(
  `${FOLDER}: ${statements.length} statements and ` +
    `${SCOPES.map((scope) => `${Object.keys(migrations[scope]).length} ${scope}`).join(', ')} migrations of ${commit}`,
);
