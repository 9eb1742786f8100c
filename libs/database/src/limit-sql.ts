/**
 * `LIMIT`, and `OFFSET` where one is given, of a statement that is to be planned once per connection. A limit that is a plain
 * parameter has PostgreSQL plan every execution once the table is large: without the value it assumes a tenth of all rows, so that a
 * plan for the value always seems worth making. The value of a subquery is known to neither plan.
 * @param limit parameters of the statement, as `$2`, of type int8
 */
export function limitSql(limit: string, offset?: string): string {
  return `LIMIT (SELECT ${limit}::bigint)${offset === undefined ? '' : ` OFFSET (SELECT ${offset}::bigint)`}`;
}
