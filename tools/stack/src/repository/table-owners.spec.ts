import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { ROOT_FOLDER } from '../app-names.js';
import { productionFiles } from './test-sources.js';

const ROOT = resolve(ROOT_FOLDER);

/** Who owns which table, as the README of the database draws it. */
function ownersInReadme(): Map<string, string[]> {
  const text = readFileSync(join(ROOT, 'libs/database/README.md'), 'utf8');
  const owners = new Map<string, string[]>();
  for (const [, tables = '', owner = ''] of text.matchAll(/^\| (`[a-z_]+`.*?) +\| `((?:libs|apps)\/[a-z-]+)`.*\|$/gm)) {
    for (const [, table = ''] of tables.matchAll(/`([a-z_]+)`/g))
      owners.set(table, [...(owners.get(table) ?? []), owner]);
  }
  return owners;
}

function tablesInSchemas(): string[] {
  const schemas = ['global', 'regional'].map((scope) =>
    readFileSync(join(ROOT, `prisma/${scope}/schema.prisma`), 'utf8'),
  );
  return [...new Set([...schemas.join('\n').matchAll(/@@map\("(\w+)"\)/g)].map(([, table = '']) => table))];
}

/** Names of tables that the SQL of a file reads or writes; those that the file gives to its own parts are none. */
function tablesIn(source: string, tables: readonly string[]): string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
  return tables.filter((table) => {
    const ownPart = new RegExp(`\\b${table} AS \\(|WITH (?:RECURSIVE )?${table} AS`).test(code);
    return !ownPart && new RegExp(`\\b(?:FROM|JOIN|UPDATE|INTO|USING|TABLE|ONLY)\\s+${table}\\b`).test(code);
  });
}

describe('the SQL of a table', () => {
  const owners = ownersInReadme();
  const tables = tablesInSchemas();

  it('has an owner for every table of the schemas, and no other table has one', () => {
    expect([...owners.keys()].sort()).toEqual([...tables].sort());
  });

  it('stands in its owner alone', () => {
    const strays = productionFiles(ROOT).flatMap((path) => {
      const name = relative(ROOT, path);
      const project = name.split('/').slice(0, 2).join('/');
      return tablesIn(readFileSync(path, 'utf8'), tables)
        .filter((table) => !owners.get(table)?.includes(project))
        .map((table) => `${name}: ${table} belongs to ${String(owners.get(table))}`);
    });
    expect(strays).toEqual([]);
  });

  it('is found in reads, joins and writes, and not in comments or names of parts of a statement', () => {
    expect(tablesIn('`SELECT 1 FROM events e JOIN chats c USING (id)`', ['events', 'chats'])).toEqual([
      'events',
      'chats',
    ]);
    expect(tablesIn('`INSERT INTO events SELECT 1`; `UPDATE chats SET a = 1`', ['events', 'chats'])).toHaveLength(2);
    expect(tablesIn('/** All FROM events. */', ['events'])).toEqual([]);
    expect(tablesIn('`WITH RECURSIVE accounts AS (SELECT 1) SELECT 1 FROM accounts`', ['accounts'])).toEqual([]);
  });
});
