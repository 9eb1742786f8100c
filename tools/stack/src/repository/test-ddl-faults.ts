/** What a migration must not do to tables that are in use: it would hold up or break the apps that run meanwhile. */

/** Names of the tables that a migration makes. */
export function tablesMade(sql: string): string[] {
  return [...sql.matchAll(/\bCREATE TABLE (?:IF NOT EXISTS )?"?(\w+)"?/gi)].map(([, table = '']) => table);
}

function statementsOf(sql: string): string[] {
  const code = sql.replaceAll(/--.*$/gm, '').replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''");
  return code
    .split(';')
    .map((statement) => statement.trim().replaceAll(/\s+/g, ' '))
    .filter((statement) => statement !== '');
}

/** A default that PostgreSQL computes once, so that the table is not written anew. */
const STEADY_DEFAULT = /\bDEFAULT (?:'|-?\d|true\b|false\b|null\b|now\(\)|CURRENT_TIMESTAMP|ARRAY\[)/i;

const ALTERATIONS: readonly [is: RegExp, unless: RegExp | undefined, why: string][] = [
  [
    /^DROP (?:COLUMN )?(?!CONSTRAINT|NOT NULL|DEFAULT)/i,
    undefined,
    'drops a column that the last release uses: one release later',
  ],
  [/^RENAME\b/i, undefined, 'renames what the last release uses: add the new one beside it'],
  [
    /^ALTER (?:COLUMN )?"?\w+"? (?:SET DATA )?TYPE\b/i,
    undefined,
    'changes a type, which rewrites the table: add a column beside it',
  ],
  [
    /^ALTER (?:COLUMN )?"?\w+"? SET NOT NULL/i,
    undefined,
    'reads the whole table under a lock: CHECK … NOT VALID, VALIDATE, then this, a release later',
  ],
  [
    /^ADD (?:COLUMN )?(?!CONSTRAINT|CHECK|FOREIGN|UNIQUE|PRIMARY|EXCLUDE)(?=.*\bNOT NULL\b)/i,
    /\bDEFAULT\b/i,
    'adds a column NOT NULL without a default',
  ],
  [
    /^ADD (?:COLUMN )?(?!CONSTRAINT|CHECK|FOREIGN|UNIQUE|PRIMARY|EXCLUDE)(?=.*\b(?:DEFAULT|SERIAL|GENERATED)\b)/i,
    STEADY_DEFAULT,
    'adds a column whose default is computed for each row, which rewrites the table',
  ],
  [
    /^ADD (?:CONSTRAINT "?\w+"? )?(?:CHECK|FOREIGN KEY)/i,
    /\bNOT VALID$/i,
    'checks the whole table under a lock: NOT VALID, and VALIDATE in a migration of its own',
  ],
  [/^ADD (?:CONSTRAINT "?\w+"? )?(?:UNIQUE|PRIMARY KEY|EXCLUDE)/i, /\bUSING INDEX\b/i, 'builds an index under a lock'],
];

/** Parts of `ALTER TABLE … a, b, c`; commas in brackets part nothing. */
function alterationsOf(list: string): string[] {
  const parts: string[] = [''];
  let depth = 0;
  for (const character of list) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

/**
 * @param inUse tables that there were before
 * @returns a sentence for each fault; none when the migration may run beside the last release
 */
export function ddlFaults(sql: string, inUse: readonly string[]): string[] {
  const made = new Set(tablesMade(sql));
  const isInUse = (table: string): boolean => inUse.includes(table) && !made.has(table);
  const statements = statementsOf(sql);
  const faults: string[] = [];
  for (const statement of statements) {
    const [, concurrently, indexed = ''] =
      /^CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?(?:IF NOT EXISTS )?(?:"?\w+"? )?ON (?:ONLY )?"?(\w+)"?/i.exec(
        statement,
      ) ?? [];
    if (isInUse(indexed) && concurrently === undefined)
      faults.push(`the index on ${indexed} is built under a lock: CONCURRENTLY, in a file of its own`);
    if (concurrently !== undefined && statements.length > 1)
      faults.push(`CONCURRENTLY works in a file of one statement alone, and this has ${statements.length}`);
    const [, dropped = ''] = /^DROP TABLE (?:IF EXISTS )?"?(\w+)"?/i.exec(statement) ?? [];
    if (isInUse(dropped)) faults.push(`drops ${dropped}, which the last release uses: one release later`);
    const [, table = '', list = ''] = /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?"?(\w+)"? (.*)$/i.exec(statement) ?? [];
    if (!isInUse(table)) continue;
    for (const alteration of alterationsOf(list)) {
      for (const [is, unless, why] of ALTERATIONS) {
        if (is.test(alteration) && !unless?.test(alteration)) faults.push(`${table}: ${alteration}: ${why}`);
      }
    }
  }
  return faults;
}
