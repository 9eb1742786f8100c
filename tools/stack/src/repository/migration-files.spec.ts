import { readdirSync } from 'node:fs';
import { ROOT_FOLDER } from '../app-names.js';
import { ddlFaults, tablesMade } from './test-ddl-faults.js';
import { migrationText, releasedMigrations } from './test-released.js';

/** Migrations that may break a rule, with the reason: `<scope>/<name>`. */
const ALLOWED: readonly string[] = [];

const TABLES = ['shelves'];

describe('a migration that is newer than the last release', () => {
  it.each(['regional', 'global'] as const)('can run while the last release serves (%s)', (scope) => {
    const released = Object.keys(releasedMigrations()[scope]);
    const inUse = released.flatMap((name) => tablesMade(migrationText(scope, name)));
    expect(inUse.length).toBeGreaterThan(5);
    const newer = readdirSync(`${ROOT_FOLDER}prisma/${scope}/migrations`, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !released.includes(entry.name))
      .map(({ name }) => name)
      .filter((name) => !ALLOWED.includes(`${scope}/${name}`));
    expect(
      newer.flatMap((name) => ddlFaults(migrationText(scope, name), inUse).map((why) => `${name}: ${why}`)),
    ).toEqual([]);
  });

  it.each([
    ['CREATE INDEX x ON shelves (a)', 'is built under a lock'],
    ['CREATE UNIQUE INDEX "x" ON "shelves"("a")', 'is built under a lock'],
    ['CREATE INDEX CONCURRENTLY x ON shelves (a); SELECT 1', 'in a file of one statement'],
    ['ALTER TABLE "shelves" ADD COLUMN a text, ADD COLUMN b text NOT NULL', 'NOT NULL without a default'],
    ['ALTER TABLE shelves ADD COLUMN a uuid DEFAULT gen_random_uuid()', 'computed for each row'],
    ['ALTER TABLE shelves DROP COLUMN a', 'drops a column'],
    ['ALTER TABLE shelves RENAME COLUMN a TO b', 'renames'],
    ['ALTER TABLE shelves RENAME TO boxes', 'renames'],
    ['ALTER TABLE shelves ALTER COLUMN a TYPE int8', 'rewrites the table'],
    ['ALTER TABLE shelves ALTER COLUMN a SET DATA TYPE int8', 'rewrites the table'],
    ['ALTER TABLE shelves ALTER COLUMN a SET NOT NULL', 'reads the whole table'],
    ['ALTER TABLE shelves ADD CONSTRAINT a CHECK (b > 0)', 'checks the whole table'],
    ['ALTER TABLE shelves ADD FOREIGN KEY (a) REFERENCES boxes (id)', 'checks the whole table'],
    ['ALTER TABLE shelves ADD CONSTRAINT a UNIQUE (a)', 'builds an index'],
    ['DROP TABLE shelves', 'drops shelves'],
  ])('is refused for %s', (sql, why) => {
    expect(ddlFaults(sql, TABLES)).toEqual([expect.stringContaining(why) as string]);
  });

  it.each([
    'CREATE TABLE boxes (a int NOT NULL); CREATE INDEX y ON boxes (a); ALTER TABLE boxes ADD UNIQUE (a)',
    'CREATE INDEX CONCURRENTLY x ON shelves (a);',
    `-- DROP TABLE shelves\nALTER TABLE shelves ADD COLUMN a text, ADD COLUMN b numeric(4, 2) NOT NULL DEFAULT 0`,
    'ALTER TABLE shelves ADD COLUMN a timestamptz NOT NULL DEFAULT now()',
    'ALTER TABLE shelves ALTER COLUMN a DROP NOT NULL',
    'ALTER TABLE shelves ADD CONSTRAINT a CHECK (b > 0) NOT VALID',
    `CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ DROP TABLE shelves; $$`,
  ])('may be %s', (sql) => {
    expect(ddlFaults(sql, TABLES)).toEqual([]);
  });
});
