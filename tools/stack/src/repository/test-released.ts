/** What the last release had: `prisma/released`, written by `npm run release:snapshot`. */
import { readFileSync } from 'node:fs';
import type { DatabaseScope } from '@dormouse/database';
import { ROOT_FOLDER } from '../app-names.js';

export interface ReleasedMigrations {
  /** Of the release. */
  commit: string;
  /** Checksum (SHA-256) of each migration's file by its name. */
  regional: Record<string, string>;
  global: Record<string, string>;
}

export interface ReleasedStatement {
  scope: DatabaseScope;
  name: string;
  text: string;
}

const read = (file: string): string => readFileSync(`${ROOT_FOLDER}prisma/released/${file}`, 'utf8');

export function releasedMigrations(): ReleasedMigrations {
  return JSON.parse(read('migrations.json')) as ReleasedMigrations;
}

export function releasedStatements(): ReleasedStatement[] {
  const [, ...parts] = read('statements.sql').split(/^-- (regional|global): (\S+)\n/m);
  const found: ReleasedStatement[] = [];
  for (let index = 0; index + 2 < parts.length; index += 3) {
    const [scope = '', name = '', text = ''] = parts.slice(index, index + 3);
    if (scope !== 'regional' && scope !== 'global')
      throw new Error(`prisma/released/statements.sql: what is ${scope}?`);
    found.push({ scope, name, text: text.trim().replace(/;$/, '') });
  }
  return found;
}

/** The text of a migration of this source tree. */
export function migrationText(scope: DatabaseScope, name: string): string {
  return readFileSync(`${ROOT_FOLDER}prisma/${scope}/migrations/${name}/migration.sql`, 'utf8');
}
