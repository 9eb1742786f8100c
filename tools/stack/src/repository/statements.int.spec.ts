import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { columnOf, parameterOf, type Declaration } from '@dormouse/database';
import pg from 'pg';
import { ROOT_FOLDER } from '../app-names.js';
import { statementsByProject } from './test-declared-rights.js';
import { Describe } from './test-described-statement.js';
import { productionFiles } from './test-sources.js';
import { createTestDatabase, type TestStore } from '../testing/test-stores.js';

jest.setTimeout(120_000);

const ROOT = resolve(ROOT_FOLDER);

/**
 * Files whose queries are not declared: the machinery itself, lists of messages (each set of filters is a statement of its
 * own), and a query of the network.
 */
const UNDECLARED = [
  'libs/database/src/listen.ts',
  'libs/database/src/migrate.ts',
  'libs/database/src/schema-engine.ts',
  'libs/database/src/statement.ts',
  'libs/database/src/transaction.ts',
  'libs/message-store/src/messages/message-reader.ts',
  'apps/session-worker/src/socket/requests/number-check.ts',
];

describe('the declared statements', () => {
  const scopes = ['regional', 'global'] as const;
  const databases = new Map<string, { store: TestStore; client: pg.Client }>();
  let types: Map<number, string>;

  beforeAll(async () => {
    for (const scope of scopes) {
      const store = await createTestDatabase(scope);
      const client = new pg.Client({ connectionString: store.url });
      await client.connect();
      databases.set(scope, { store, client });
    }
    const { rows } = await clientOf('regional').query<{ oid: number; name: string }>(
      'SELECT oid::int4 AS oid, format_type(oid, NULL) AS name FROM pg_type',
    );
    types = new Map(rows.map(({ oid, name }) => [oid, SHORT[name] ?? name]));
  });
  afterAll(async () => {
    for (const { store, client } of databases.values()) {
      await client.end();
      await store.drop();
    }
  });

  const clientOf = (scope: string): pg.Client => {
    const client = databases.get(scope)?.client;
    if (!client) throw new Error(`there is no database ${scope}`);
    return client;
  };

  const SHORT: Record<string, string> = {
    boolean: 'bool',
    integer: 'int4',
    bigint: 'int8',
    'double precision': 'float8',
    'timestamp with time zone': 'timestamptz',
    'boolean[]': 'bool[]',
    'timestamp with time zone[]': 'timestamptz[]',
    'integer[]': 'int4[]',
    'bigint[]': 'int8[]',
    'double precision[]': 'float8[]',
  };

  const faultsOf = async ({ name, text, parameters, row = {}, scope = 'regional' }: Declaration): Promise<string[]> => {
    const client = clientOf(scope);
    const described = await client.query(new Describe(text)).done.catch((error: unknown) => String(error));
    if (typeof described === 'string') return [`${name}: ${described}`];
    const given = described.parameters.map((oid) => types.get(oid));
    const declared = parameters.map((parameter) => parameterOf(parameter).type);
    const faults = same(given, declared)
      ? []
      : [`${name}: has parameters ${String(given)}, declared as ${String(declared)}`];
    const columns = described.columns.map((column) => `${column.name} ${types.get(column.dataTypeID)}`).sort();
    const shape = Object.entries(row)
      .map(([column, type]) => `${column} ${columnOf(type).type}`)
      .sort();
    if (!same(columns, shape)) faults.push(`${name}: returns ${columns.join(', ')}, declared as ${shape.join(', ')}`);
    for (const column of described.columns) {
      const type = row[column.name];
      if (type === undefined || columnOf(type).nullable || column.tableID === 0) continue;
      const { rows } = await client.query<{ attnotnull: boolean }>(
        'SELECT attnotnull FROM pg_attribute WHERE attrelid = $1 AND attnum = $2',
        [column.tableID, column.columnID],
      );
      if (!rows[0]?.attnotnull) faults.push(`${name}: ${column.name} may be null`);
    }
    return faults;
  };

  it('match what PostgreSQL reports on the migrated databases: parameters, columns, types, and what may be null', async () => {
    const declarations = [...(await statementsByProject()).values()].flat();
    expect(declarations.length).toBeGreaterThan(100);
    const faults: string[] = [];
    for (const declaration of declarations) faults.push(...(await faultsOf(declaration)));
    expect(faults).toEqual([]);
  });

  it('are found out when a parameter, a column, its type, or that it may be null is declared otherwise', async () => {
    const text = 'SELECT id, phone FROM channels WHERE id = $1';
    const right: Declaration = { name: 'a', text, parameters: ['text'], row: { id: 'text', phone: 'text?' } };
    expect(await faultsOf(right)).toEqual([]);
    expect(await faultsOf({ ...right, parameters: ['int4'] })).toHaveLength(1);
    expect(await faultsOf({ ...right, row: { id: 'text' } })).toHaveLength(1);
    expect(await faultsOf({ ...right, row: { id: 'int4', phone: 'text?' } })).toHaveLength(1);
    expect(await faultsOf({ ...right, row: { id: 'text', phone: 'text' } })).toEqual(['a: phone may be null']);
    expect(await faultsOf({ ...right, text: 'SELECT id FROM nothing' })).toHaveLength(1);
  });

  it('are all there are: no other file of production gives a query its text, but those that are listed', () => {
    const others = productionFiles(ROOT)
      .filter((path) =>
        /\.query(?:<[^(]*>)?\((?!\))/.test(readFileSync(path, 'utf8').replaceAll(/'SELECT 1'|"SELECT 1"/g, '')),
      )
      .map((path) => relative(ROOT, path));
    expect(others).toEqual(UNDECLARED);
  });
});

function same(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
