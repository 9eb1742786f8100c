/**
 * Compares schema.prisma with the recorded migrations. For development only: needs Prisma's schema engine, which comes
 * as WebAssembly, so that nothing is downloaded.
 *
 * How: the migrations are applied to a new, empty database by our own runner, then the engine finds what is missing
 * from it. (The engine could read the migrations itself, but its WebAssembly build cannot make its shadow database.)
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  type ColumnType,
  ColumnTypeEnum,
  bindMigrationAwareSqlAdapterFactory,
  type SqlQuery,
  type SqlResultSet,
} from '@prisma/driver-adapter-utils';
import * as engineModule from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';
import { type DatabaseScope, migrate, migrationsFolder } from './migrate.js';

const { SchemaEngine } = engineModule;
const NO_FILTERS = { externalTables: [], externalEnums: [] };
/** What the engine answers if two schemas differ. */
const DIFFERENT = 2;

type Engine = engineModule.SchemaEngine;
type Adapter = Awaited<ReturnType<PrismaPg['connect']>>;

/** The part of the global that is used here; TypeScript knows it only together with a browser's globals. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

let loaded: Promise<void> | undefined;

/** The package's own entry loads its .wasm with an import that Node does not know; this does it by hand, once. */
function loadEngine(): Promise<void> {
  loaded ??= (async () => {
    const folder = dirname(fileURLToPath(import.meta.resolve('@prisma/schema-engine-wasm')));
    const bytes = await readFile(join(folder, 'schema_engine_bg.wasm'));
    // The engine calls this when it panics, before it aborts.
    const panics = { set_message: (message: string) => process.stderr.write(`schema engine: ${message}\n`) };
    Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: panics });
    const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': engineModule });
    engineModule.__wbg_set_wasm(instance.exports);
    (instance.exports.__wbindgen_start as () => void)();
  })();
  return loaded;
}

/** Types of PostgreSQL's catalogue by their object ids, for the queries that Prisma's adapter refuses. */
const CATALOGUE_TYPES: Record<number, ColumnType> = {
  16: ColumnTypeEnum.Boolean,
  18: ColumnTypeEnum.Character,
  19: ColumnTypeEnum.Text,
  20: ColumnTypeEnum.Int64,
  21: ColumnTypeEnum.Int32,
  23: ColumnTypeEnum.Int32,
  25: ColumnTypeEnum.Text,
  26: ColumnTypeEnum.Int64,
  1002: ColumnTypeEnum.CharacterArray,
  1003: ColumnTypeEnum.TextArray,
  1005: ColumnTypeEnum.Int32Array,
  1009: ColumnTypeEnum.TextArray,
  1043: ColumnTypeEnum.Text,
};

async function queryCatalogue(adapter: Adapter, query: SqlQuery): Promise<SqlResultSet> {
  const { fields, rows } = await adapter.underlyingDriver().query<unknown[]>({
    text: query.sql,
    values: query.args,
    rowMode: 'array',
  });
  const columnTypes = fields.map(({ name, dataTypeID }) => {
    const type = CATALOGUE_TYPES[dataTypeID];
    if (type === undefined) throw new Error(`Column ${name} of the catalogue has the unknown type ${dataTypeID}.`);
    return type;
  });
  return { columnNames: fields.map(({ name }) => name), columnTypes, rows };
}

/** Prisma's adapter refuses columns of the type "char", which the catalogue is full of; those queries go round it. */
class CatalogueAdapter extends PrismaPg {
  override async connect(): Promise<Adapter> {
    const adapter = await super.connect();
    const refused = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query) => {
      try {
        return await refused(query);
      } catch (error) {
        const { cause } = error as { cause?: { kind?: string } };
        if (cause?.kind !== 'UnsupportedNativeDataType') throw error;
        return queryCatalogue(adapter, query);
      }
    };
    return adapter;
  }
}

async function withEngine<T>(url: string, schema: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  await loadEngine();
  const adapter = bindMigrationAwareSqlAdapterFactory(new CatalogueAdapter({ connectionString: url, max: 1 }));
  const datamodels: [string, string][] = [['schema.prisma', schema]];
  const engine = await SchemaEngine.new({ datamodels }, () => undefined, adapter);
  try {
    return await work(engine);
  } finally {
    engine.free();
  }
}

/** Runs `work` on a new, empty database of the server, and drops it. */
async function withShadowDatabase<T>(serverUrl: string, work: (url: string) => Promise<T>): Promise<T> {
  const name = `shadow_${randomUUID().replaceAll('-', '')}`;
  const server = new pg.Client({ connectionString: serverUrl });
  await server.connect();
  try {
    await server.query(`CREATE DATABASE ${name} TEMPLATE template0`);
    const url = new URL(serverUrl);
    url.pathname = `/${name}`;
    return await work(url.toString());
  } finally {
    await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await server.end();
  }
}

/**
 * The SQL that takes the recorded migrations of a scope to its schema.prisma; undefined if they are in step.
 * @param serverUrl any database of a server on which databases may be made
 * @param schemaText compared instead of the file
 */
export async function pendingMigration(
  serverUrl: string,
  scope: DatabaseScope,
  schemaText?: string,
): Promise<string | undefined> {
  const folder = dirname(migrationsFolder(scope));
  const schema = schemaText ?? (await readFile(join(folder, 'schema.prisma'), 'utf8'));
  const files = [{ path: 'schema.prisma', content: schema }];
  return withShadowDatabase(serverUrl, async (url) => {
    await migrate(url, scope);
    return withEngine(url, schema, async (engine) => {
      const { exitCode, stdout } = await engine.diff({
        from: { tag: 'schemaDatasource', files, configDir: folder },
        to: { tag: 'schemaDatamodel', files },
        script: true,
        exitCode: true,
        filters: NO_FILTERS,
      });
      return exitCode === DIFFERENT ? (stdout ?? '') : undefined;
    });
  });
}

/**
 * Writes the migration that takes the recorded ones to schema.prisma.
 * @param name words for what it does, e.g. `add pushname`
 * @returns the new folder; undefined if there is nothing to migrate
 */
export async function createMigration(
  serverUrl: string,
  scope: DatabaseScope,
  name: string,
  now = new Date(),
): Promise<string | undefined> {
  const sql = await pendingMigration(serverUrl, scope);
  if (sql === undefined) return undefined;
  const stamp = now.toISOString().replace(/\D/g, '').slice(0, 14);
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  if (words.length === 0) throw new Error('A migration needs a name of letters and digits.');
  const folder = join(migrationsFolder(scope), `${stamp}_${words.join('_')}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'migration.sql'), sql);
  return folder;
}
