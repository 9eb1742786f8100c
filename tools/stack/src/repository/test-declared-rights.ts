import { existsSync, readFileSync } from 'node:fs';
import type { Declaration, DatabaseScope } from '@dormouse/database';
import type pg from 'pg';
import { ROOT_FOLDER, STORE_APPS } from '../app-names.js';
import { declaredBy } from './test-declared-statements.js';

/** `INSERT` and the like by table. */
export type Rights = Map<string, Set<string>>;

/** The projects that an app consists of, itself last, and each after those that it imports. */
function projectsOf(app: string): string[] {
  const found: string[] = [];
  const visit = (folder: string): void => {
    if (found.includes(folder)) return;
    const { dependencies = {} } = JSON.parse(readFileSync(`${ROOT_FOLDER}${folder}/package.json`, 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    for (const name of Object.keys(dependencies)) {
      const library = `libs/${name.replace('@dormouse/', '')}`;
      if (name.startsWith('@dormouse/') && existsSync(ROOT_FOLDER + library)) visit(library);
    }
    found.push(folder);
  };
  visit(`apps/${app}`);
  return found;
}

/** Every declared statement by the project that declares it. */
export function statementsByProject(): Promise<Map<string, Declaration[]>> {
  return declaredBy([...new Set(STORE_APPS.flatMap(projectsOf))]);
}

/** The statements of an app for a database: its own, and those of every library that it imports. */
export function statementsOf(
  app: string,
  scope: DatabaseScope,
  byProject: ReadonlyMap<string, Declaration[]>,
): Declaration[] {
  return projectsOf(app)
    .flatMap((project) => byProject.get(project) ?? [])
    .filter((declaration) => (declaration.scope ?? 'regional') === scope);
}

/** The rights that a statement, or the body of a trigger, needs on tables. */
export function rightsOf(text: string, tables: readonly string[]): Rights {
  const rights: Rights = new Map();
  for (const table of tables.filter((name) => new RegExp(`\\b${name}\\b`).test(text))) {
    const verbs = new Set(['SELECT']);
    const quoted = `"?${table}"?\\b`;
    if (new RegExp(`INSERT INTO ${quoted}`).test(text)) verbs.add('INSERT');
    if (new RegExp(`UPDATE (?:ONLY )?${quoted}|INSERT INTO ${quoted}[\\s\\S]*DO UPDATE`).test(text))
      verbs.add('UPDATE');
    if (new RegExp(`DELETE FROM (?:ONLY )?${quoted}`).test(text)) verbs.add('DELETE');
    // Locking a row is a right to write it.
    if (/FOR (?:NO KEY )?(?:UPDATE|SHARE)|FOR KEY SHARE/.test(text)) verbs.add('UPDATE');
    rights.set(table, verbs);
  }
  return rights;
}

export function addRights(to: Rights, more: Rights): void {
  for (const [table, verbs] of more) to.set(table, new Set([...(to.get(table) ?? []), ...verbs]));
}

/** Adds what the triggers of tables do that may be written: they run with the rights of the one who writes. */
export async function addRightsOfTriggers(rights: Rights, client: pg.Client, tables: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ table: string; source: string }>(
    `SELECT t.tgrelid::regclass::text AS table, p.prosrc AS source FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
     WHERE NOT t.tgisinternal`,
  );
  for (const { table, source } of rows) {
    if ((rights.get(table)?.size ?? 0) > 1) addRights(rights, rightsOf(source, tables));
  }
}
