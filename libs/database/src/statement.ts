/**
 * SQL statements, each declared once with its parameters and the columns of its rows: the types of both are inferred from
 * the declaration, and one spec prepares every declared statement on a migrated database and compares. Statements run
 * under their name, so that PostgreSQL parses and plans each once per connection.
 */
import type pg from 'pg';

/** What the driver makes of a value of each type of PostgreSQL. `int8` and `numeric` exceed a number and stay text. */
interface ValueOf {
  text: string;
  bool: boolean;
  int4: number;
  int8: string;
  float8: number;
  numeric: string;
  timestamptz: Date;
  bytea: Buffer;
  uuid: string;
  json: unknown;
  jsonb: unknown;
  'text[]': string[];
  'int4[]': number[];
}

/** What is given for a parameter of each type. JSON is given as text. */
interface ParameterOf {
  text: string;
  bool: boolean;
  int4: number;
  int8: string | number | bigint;
  float8: number;
  timestamptz: Date;
  bytea: Uint8Array;
  uuid: string;
  jsonb: string;
  'text[]': readonly string[];
  'bool[]': readonly boolean[];
  'timestamptz[]': readonly (Date | null)[];
  'int4[]': readonly number[];
  'int8[]': readonly (string | number | bigint)[];
  'float8[]': readonly number[];
  'bytea[]': readonly (Uint8Array | null)[];
}

/** A type of a column; with `?` it may be null. */
export type ColumnType = keyof ValueOf | `${keyof ValueOf}?`;
/** A type of a parameter; with `?` null may be given. */
export type ParameterType = keyof ParameterOf | `${keyof ParameterOf}?`;

/** A column whose values are known more closely than by their type: JSON of a shape, one of several words. */
export interface Narrowed<Value> {
  readonly type: ColumnType;
  /** Never there: it carries the type. */
  readonly value?: Value;
}

/** Declares what the values of a column are; name null among them where its type has a `?`. */
export function narrowed<Value>(type: ColumnType): Narrowed<Value> {
  return { type };
}

type Columns = Readonly<Record<string, ColumnType | Narrowed<unknown>>>;

type ColumnValue<Type> =
  Type extends Narrowed<infer Value>
    ? Value
    : Type extends `${infer Name extends keyof ValueOf}?`
      ? ValueOf[Name] | null
      : Type extends keyof ValueOf
        ? ValueOf[Type]
        : never;

type ParameterValue<Type> = Type extends `${infer Name extends keyof ParameterOf}?`
  ? ParameterOf[Name] | null
  : Type extends keyof ParameterOf
    ? ParameterOf[Type]
    : never;

/** What is given for parameters of these types. */
export type ParameterValues<Types extends readonly ParameterType[]> = {
  -readonly [Index in keyof Types]: ParameterValue<Types[Index]>;
};

/** Whatever runs queries: a pool, or a connection inside a transaction. */
export type Queryable = Pick<pg.Pool | pg.PoolClient, 'query'>;

/** The database that a statement is for. */
export type StatementScope = 'regional' | 'global';

/** A statement as it was declared. */
export interface Declaration {
  /** Its name in PostgreSQL, of which no other statement has the same. */
  readonly name: string;
  readonly text: string;
  readonly parameters: readonly ParameterType[];
  /** Columns of its rows by name, in order; none when it returns nothing. */
  readonly row?: Columns;
  /** Default: 'regional'. */
  readonly scope?: StatementScope;
}

/** A row of columns that several statements return. */
export type RowOfColumns<Shape extends Columns> = { -readonly [Name in keyof Shape]: ColumnValue<Shape[Name]> };

/** The row that a statement returns. */
export type RowOf<Statement extends { all(...given: never[]): Promise<unknown[]> }> = Awaited<
  ReturnType<Statement['all']>
>[number];

/** A declared statement, to be run with a value for each parameter. Every method throws the driver's errors. */
export class DeclaredStatement<Values extends unknown[], Row extends pg.QueryResultRow> {
  constructor(readonly declaration: Declaration) {}

  /** Its rows. */
  async all(on: Queryable, ...values: Values): Promise<Row[]> {
    return (await this.run(on, values)).rows;
  }

  /** Its first row, or undefined when it has none. */
  async first(on: Queryable, ...values: Values): Promise<Row | undefined> {
    return (await this.run(on, values)).rows[0];
  }

  /** How many rows it wrote, or returned. */
  async count(on: Queryable, ...values: Values): Promise<number> {
    return (await this.run(on, values)).rowCount ?? 0;
  }

  private run(on: Queryable, values: Values): Promise<pg.QueryResult<Row>> {
    const { name, text } = this.declaration;
    return on.query<Row>({ name, text, values });
  }
}

const declarations = new Map<string, Declaration>();

/**
 * Declares a statement, once at the start of the module that owns its tables.
 * @throws {Error} when another one goes by the same name
 */
export function defineStatement<
  const Types extends readonly ParameterType[],
  const Row extends Columns = Readonly<Record<never, never>>,
>(
  declaration: Declaration & { readonly parameters: Types; readonly row?: Row },
): DeclaredStatement<ParameterValues<Types>, RowOfColumns<Row>> {
  const { name, text } = declaration;
  const known = declarations.get(name);
  if (known && known.text !== text) throw new Error(`two statements are named ${name}`);
  declarations.set(name, declaration);
  return new DeclaredStatement(declaration);
}

/** Every statement that was declared by the modules loaded so far. */
export function declaredStatements(): Declaration[] {
  return [...declarations.values()];
}

/** The type of a declared column without its `?`, and whether it may be null. */
export function columnOf(column: ColumnType | Narrowed<unknown>): { type: string; nullable: boolean } {
  return typeOf(typeof column === 'string' ? column : column.type);
}

/** The type of a declared parameter without its `?`. */
export function parameterOf(parameter: ParameterType): { type: string; nullable: boolean } {
  return typeOf(parameter);
}

function typeOf(type: string): { type: string; nullable: boolean } {
  const nullable = type.endsWith('?');
  return { type: nullable ? type.slice(0, -1) : type, nullable };
}
