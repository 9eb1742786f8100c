/** What two schemas have in common for an app that runs on either: tables, columns and constraints. */
import type pg from 'pg';

export interface SchemaShape {
  /** By `table.column`. */
  columns: Map<string, { type: string; notNull: boolean; filled: boolean }>;
  /** What a row is refused for, by `table: definition`. */
  refusals: Set<string>;
}

const COLUMNS = `SELECT c.relname || '.' || a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS not_null,
  (a.atthasdef OR a.attidentity <> '' OR a.attgenerated <> '') AS filled
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND c.relname <> '_prisma_migrations' AND a.attnum > 0 AND NOT a.attisdropped`;
const REFUSALS = `SELECT conrelid::regclass || ': ' || pg_get_constraintdef(oid) AS refusal FROM pg_constraint
  WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'f', 'x')
  UNION ALL SELECT indrelid::regclass || ': ' || regexp_replace(pg_get_indexdef(indexrelid), 'INDEX \\S+ ON', 'INDEX ON')
  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE indisunique AND indrelid <> '_prisma_migrations'::regclass AND relnamespace = 'public'::regnamespace`;

export async function shapeOf(client: pg.Client): Promise<SchemaShape> {
  const columns = await client.query<{ name: string; type: string; not_null: boolean; filled: boolean }>(COLUMNS);
  const refusals = await client.query<{ refusal: string }>(REFUSALS);
  return {
    columns: new Map(
      columns.rows.map(({ name, type, not_null: notNull, filled }) => [name, { type, notNull, filled }]),
    ),
    refusals: new Set(refusals.rows.map(({ refusal }) => refusal)),
  };
}

/** Why the code of `before` cannot run on `after`: nothing when it can. */
export function incompatibilities(before: SchemaShape, after: SchemaShape): string[] {
  const faults: string[] = [];
  const tables = new Set([...before.columns.keys()].map((name) => name.split('.')[0] ?? ''));
  for (const [name, was] of before.columns) {
    const is = after.columns.get(name);
    if (!is) faults.push(`${name} is gone: the last release reads and writes it`);
    else if (is.type !== was.type) faults.push(`${name} was ${was.type} and is ${is.type}`);
    else if (is.notNull !== was.notNull)
      faults.push(
        `${name} ${is.notNull ? 'takes null no longer: the last release may write it' : 'may be null now: the last release reads it as never null'}`,
      );
  }
  for (const [name, { notNull, filled }] of after.columns) {
    const isNew = !before.columns.has(name) && tables.has(name.split('.')[0] ?? '');
    if (isNew && notNull && !filled) faults.push(`${name} is new and has no default: inserts of the last release fail`);
  }
  for (const refusal of after.refusals) {
    const isNew = !before.refusals.has(refusal) && tables.has(refusal.split(':')[0] ?? '');
    if (isNew) faults.push(`${refusal} is new: it may refuse what the last release writes`);
  }
  return faults;
}
